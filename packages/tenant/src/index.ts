export { BUILT_IN, builtInMetric } from './business/builtin.ts'
export { type Evaluation, evaluateFlag } from './business/flags.ts'
export { snapshot } from './business/snapshot.ts'
export { metricHistory, metricSeries, storedMetric } from './business/stored.ts'
export { asOfTime } from './business/view.ts'
export { Engine, type Listener, type Ports, type TenantOptions, type TransactionListener } from './engine/engine.ts'
export type { Job } from './engine/scheduler.ts'
export { demand, demandArea, type Grant, grantFor, may, OPERATOR, rowsOf } from './grant/grant.ts'
export { type Action, reaches, type Scope } from './grant/scopes.ts'
export { isId, newId, randomText } from './ids.ts'
export { openTenant } from './open.ts'
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
export { filterOf } from './query/filter.ts'
export {
  count,
  explain,
  find,
  findRows,
  get,
  type Page,
  type PreparedQuery,
  prepareQuery,
  type Query,
} from './query/find.ts'
export {
  asOfSeq,
  demandReachable,
  includeOf,
  industryFilter,
  limitOf,
  offsetOf,
  queryOf,
  readable,
  readContextOf,
} from './query/parameters.ts'
export type { ReadContext } from './query/reader.ts'
export { viewKey, visibilityOf } from './query/visibility.ts'
export {
  type ImportCounts,
  type ImportDetail,
  Importer,
  type ImportOptions,
  type ImportRow,
} from './services/bulk/import.ts'
export { Snapshot } from './services/bulk/snapshot.ts'
export { erase } from './services/erase.ts'
export { type Changes, changesAfter, countAfter, type Patterns } from './services/events/changes.ts'
export { feedOf, frameOf } from './services/events/feed.ts'
export { diff, history, type Version } from './services/history.ts'
export { grantOf, lastUsed, renewGrant, tenantOfSecret } from './services/keys.ts'
export { sealedEvent } from './services/portable/chain.ts'
export { FORM, type LogPart, portableLog } from './services/portable/log.ts'
export { replay } from './services/portable/replay.ts'
export { type Operation, type RunResult, runVerb } from './services/run-verb.ts'
export { dropType, putType } from './services/schema.ts'
export { type CodeResult, runCode } from './services/scripts/do.ts'
export { HOOK_LIMITS, LIMITS, MOST_CODE } from './services/scripts/limits.ts'
export { codeOf, demandHook, demandStep, dropHook, hooksOf, putHook, stepsOf } from './services/scripts/stored.ts'
export { hookCall, noScript } from './services/scripts/stored-before.ts'
export { operate, type Session, sessionOf } from './services/session.ts'
export { summaryOf } from './services/summary.ts'
export type { ServerChange } from './services/sync/answer.ts'
export { type Synced, sync } from './services/sync/sync.ts'
export { type UndoResult, undo } from './services/undo.ts'
export { type Fault, type Verdict, verify } from './services/verify.ts'
export { type DeliveryQuestion, deliveriesOf, redeliver, testWebhook } from './services/webhooks/records.ts'
export { WEBHOOK_DEFAULTS, type WebhookOptions } from './services/webhooks/retry.ts'
export { traced } from './services/webhooks/trace.ts'
export { failedHooks } from './store/after-hook-queue.ts'
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
export type { NonLogTables } from './store/non-log-tables.ts'
export { detach, rewind } from './store/rewind.ts'
export { entityText, entityView } from './view/entity.ts'
export { eventText, eventView } from './view/event.ts'
export { GroupCommit, type WriteQueue } from './write/group-commit.ts'
export { type AfterHook, type BeforeHook, type HookRegistry, Hooks, registryOf } from './write/hooks.ts'
export type { VerbRequest, VerbResult } from './write/verb.ts'
