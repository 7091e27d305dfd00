import { computed } from '../business/computed.ts'
import { FlagCounts } from '../business/flag-counts.ts'
import { goalListener } from '../business/metrics/goals.ts'
import { assetFields } from '../business/verbs/asset.ts'
import { invoiceTotals } from '../business/verbs/invoice.ts'
import { businessVerbs } from '../business/verbs/verbs.ts'
import { Engine } from '../engine/engine.ts'
import type { Ports, TenantOptions } from '../engine/options.ts'
import { afterHookJob, enqueueAfterHooks } from '../services/after-hooks.ts'
import { agentVerbs, guardEndpoints } from '../services/agents/verbs.ts'
import { staleJob } from '../services/changesets/stale.ts'
import { changesetVerbs } from '../services/changesets/verbs.ts'
import { commentVerbs, deriveMentions } from '../services/comments.ts'
import { endSubscriptionsJob, followRights } from '../services/event-subscriptions/end.ts'
import { Feed } from '../services/events/feed.ts'
import { collectionJob, keepNamedContents } from '../services/files/contents.ts'
import { guardPeople } from '../services/identity/guard.ts'
import { peopleVerbs } from '../services/identity/invitations.ts'
import { People } from '../services/identity/people.ts'
import { IndexJob } from '../services/index-job.ts'
import { inheritAuthors } from '../services/inherit-authors.ts'
import { guardIntegrations } from '../services/integrations/author.ts'
import { IntegrationRuns } from '../services/integrations/run.ts'
import { integrationVerbs } from '../services/integrations/verbs.ts'
import { Keys, keyVerbs } from '../services/keys.ts'
import { claimInbox } from '../services/mail/inbox.ts'
import { mailJob } from '../services/mail/job.ts'
import { noteNotices } from '../services/mail/notices.ts'
import { mailVerbs } from '../services/mail/verbs.ts'
import { Checkpoints } from '../services/proof/checkpoints.ts'
import { witnessJob } from '../services/proof/witness-job.ts'
import { sessionIn } from '../services/session.ts'
import { syncedUntil } from '../services/sync/sync.ts'
import { timerJob } from '../services/timers/job.ts'
import { declareProgram, noteProgram, scheduleTimers, timerScanJob } from '../services/timers/schedule.ts'
import { cleanupJob, deliveryJob } from '../services/webhooks/deliver.ts'
import { encryptSecrets } from '../services/webhooks/encrypt-secrets.ts'
import { enqueueDeliveries } from '../services/webhooks/subscription.ts'
import { webhookVerbs } from '../services/webhooks/verbs.ts'
import { forgetRunsJob, workflowJob } from '../services/workflows/job.ts'
import { queueRuns, rescheduleAll } from '../services/workflows/queue.ts'
import { workflowVerbs } from '../services/workflows/verbs.ts'
import { resumeRuns } from '../store/automation/integrations.ts'
import { Transactor } from '../write/group-commit.ts'

/** What a tenant keeps in memory in addition to its engine. */
export interface TenantServices {
  readonly transactor: Transactor
  readonly keys: Keys
  readonly people: People
  readonly feed: Feed
  readonly flagCounts: FlagCounts
  readonly indexing: IndexJob
  readonly checkpoints: Checkpoints
  readonly integrations: IntegrationRuns
}

/** Opens the engine of a tenant and connects it with its services. The one place that knows them all. */
export function createServices(slug: string, ports: Ports, options: TenantOptions): TenantServices {
  const engine = new Engine(slug, ports, options)
  const transactor = new Transactor(engine)
  const keys = new Keys(transactor)
  const people = new People(engine)
  const flagCounts = new FlagCounts(transactor)
  const indexing = new IndexJob(engine)
  const checkpoints = new Checkpoints(engine)
  const integrations = new IntegrationRuns(transactor)
  const { extensions } = transactor
  engine.syncedUntil = syncedUntil(engine)
  if (engine.head.seq > 0) encryptSecrets(engine)
  inheritAuthors(engine)
  if (engine.head.seq > 0) claimInbox(engine)
  if (declareProgram(engine) === 'forgotten') rescheduleAll(engine)
  Object.assign(
    extensions.verbs,
    keyVerbs,
    peopleVerbs,
    webhookVerbs,
    workflowVerbs,
    mailVerbs,
    businessVerbs,
    changesetVerbs,
    commentVerbs,
    integrationVerbs,
    agentVerbs,
  )
  extensions.derive.Invoice = invoiceTotals
  extensions.derive.Asset = assetFields
  extensions.derive.Comment = deriveMentions
  extensions.compute = computed
  extensions.session = sessionIn
  extensions.listeners.push(
    keepNamedContents,
    noteProgram,
    enqueueAfterHooks,
    enqueueDeliveries,
    scheduleTimers,
    queueRuns,
    noteNotices,
  )
  extensions.listenerOf.User = (...changed) => {
    guardPeople(...changed)
    followRights(...changed)
  }
  extensions.listenerOf.ApiKey = followRights
  extensions.listenerOf.AccessRole = followRights
  extensions.listenerOf.Agent = guardEndpoints
  extensions.listenerOf.Integration = guardIntegrations
  extensions.listenerOf.Metric = goalListener
  // Nothing that is automatic follows from the past, but for timers that are still to come.
  extensions.pastListeners.push(noteProgram, scheduleTimers)
  if (engine.head.seq > 0) resumeRuns(engine.sql, ports.clock.now())
  engine.scheduler.jobs.push(
    keys.job(),
    people.job(),
    timerScanJob(engine),
    timerJob(transactor),
    workflowJob(transactor),
    integrations,
    forgetRunsJob(transactor),
    afterHookJob(transactor),
    deliveryJob(transactor),
    mailJob(transactor),
    cleanupJob(engine),
    endSubscriptionsJob(engine),
    flagCounts.job(),
    staleJob(transactor),
    collectionJob(engine),
    indexing,
    witnessJob(engine, checkpoints),
  )
  return { transactor, keys, people, feed: new Feed(engine), flagCounts, indexing, checkpoints, integrations }
}
