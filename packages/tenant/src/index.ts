export type { Act, Done } from './act/act.ts'
export { type ImportDetail, Importer, type ImportOptions, type ImportRow, type Tally } from './bulk/import.ts'
export { Snapshot } from './bulk/snapshot.ts'
export { census } from './census.ts'
export { Commits, type Writes } from './commit.ts'
export { erase } from './erase.ts'
export { eventText, eventView } from './event-view.ts'
export { type Changes, changesAfter, countAfter, type Patterns } from './events/changes.ts'
export { feedOf, frameOf } from './events/feed.ts'
export { sightOf, viewOf } from './events/sight.ts'
export { filterOf } from './filter.ts'
export { diff, history, type Version } from './history.ts'
export { type AfterHook, type BeforeHook, type HookRegistry, Hooks, registryOf } from './hooks.ts'
export type { Chore } from './household.ts'
export { isId, newId, randomText } from './ids.ts'
export { demand, demandArea, type Grant, grantFor, may, OPERATOR, rowsOf } from './keys/grant.ts'
export { grantOf, lastUsed, renewed, tenantOfSecret } from './keys/keys.ts'
export { type Action, reaches, type Scope } from './keys/scopes.ts'
export { BUILT_IN, builtInMetric } from './metrics/builtin.ts'
export { type Evaluation, evaluateFlag } from './metrics/flags.ts'
export { snapshot } from './metrics/snapshot.ts'
export { metricHistory, metricSeries, storedMetric } from './metrics/stored.ts'
export { asOfTime } from './metrics/view.ts'
export { openTenant } from './open.ts'
export { type Operation, type Outcome, perform } from './perform.ts'
export { sealedEvent } from './portable/chain.ts'
export { FORM, type LogPart, portableLog } from './portable/log.ts'
export { replay } from './portable/replay.ts'
export type {
  Alarm,
  Clock,
  Hasher,
  Outbound,
  OutboundAnswer,
  OutboundRequest,
  Random,
  Script,
  ScriptAnswer,
  ScriptFailure,
  ScriptRequest,
  Seal,
  Sql,
  SqlRow,
  SqlValue,
  TransactionWay,
} from './ports.ts'
export { type Aggregation, aggregate } from './query/aggregate.ts'
export { parseFields, project } from './query/fields.ts'
export { count, explain, find, findRows, get, type Page, type Query, type Ready, readyFor } from './query/find.ts'
export type { Reader } from './query/reader.ts'
export {
  asOfSeq,
  includeOf,
  industryFilter,
  limitOf,
  offsetOf,
  questionOf,
  reachable,
  readable,
  readerOf,
} from './read.ts'
export { dropType, putType } from './schema.ts'
export { type Did, runCode } from './scripts/do.ts'
export { HOOK_LIMITS, LIMITS, MOST_CODE } from './scripts/limits.ts'
export { hookCall, noScript } from './scripts/settle.ts'
export { codeOf, demandHook, demandStep, dropHook, hooksOf, putHook, stepsOf } from './scripts/stored.ts'
export { type Undone, undo } from './scripts/undo.ts'
export { operate, type Session, sessionOf } from './session.ts'
export { failedAfters } from './store/afters.ts'
export type { Beside } from './store/beside.ts'
export { typesWithEntities } from './store/changes.ts'
export type { Stored } from './store/entities.ts'
export type { StoredHook } from './store/hooks.ts'
export {
  BEGUN,
  dropAnswer,
  forgetOldAnswers,
  type KeptAnswer,
  keepAnswer,
  keptAnswer,
  noteProgress,
} from './store/idempotency.ts'
export { LAYOUT_VERSION } from './store/layout.ts'
export { BEGINNING, type Head, type LogRow, readLog, seqAt } from './store/log.ts'
export { layOut } from './store/meta.ts'
export { detach, rewind } from './store/rewind.ts'
export type { ServerChange } from './sync/answer.ts'
export { type Synced, sync } from './sync/sync.ts'
export { type Listener, type Ports, Tenant, type TenantOptions, type Witness } from './tenant.ts'
export { type Fault, type Verdict, verify } from './verify.ts'
export { entityText, entityView } from './view.ts'
export { type DeliveryQuestion, deliveriesOf, redeliver, testWebhook } from './webhooks/records.ts'
export { WEBHOOK_DEFAULTS, type WebhookOptions } from './webhooks/retry.ts'
export { traced } from './webhooks/trace.ts'
