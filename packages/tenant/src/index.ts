export { Budget, type BudgetLimits, overBudget } from './budget.ts'
export type { HookReads, HooksOn, HookWrites } from './engine/hook-types.ts'
export { type AfterHook, type BeforeHook, type HookRegistry, Hooks, registryOf } from './engine/hooks.ts'
export { type Ports, type TenantOptions, WEBHOOK_DEFAULTS, type WebhookOptions } from './engine/options.ts'
export type { TenantAdmin, TenantInfo } from './facade/admin.ts'
export type { Follower, LiveSource } from './facade/follower.ts'
export type { TenantReader } from './facade/reader.ts'
export type { TenantWriter } from './facade/writer.ts'
export { type Grant, OPERATOR } from './grant/grant.ts'
export { isId, randomText } from './ids.ts'
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
  Vault,
} from './ports.ts'
export { parseFields, project } from './query/fields.ts'
export type { Page, Query } from './query/find.ts'
export { DEFAULT_LIMIT, limitOf, offsetOf } from './query/limits.ts'
export { type ImportCounts, type ImportDetail, Importer } from './services/bulk/import.ts'
export type { ImportRow } from './services/bulk/import-row.ts'
export type { Snapshot } from './services/bulk/snapshot.ts'
export type { Patterns } from './services/events/changes.ts'
export { keyIdOf, tenantOfSecret } from './services/keys.ts'
export { sealedEvent } from './services/portable/chain.ts'
export { FORM, type LogPart } from './services/portable/log.ts'
export { codeOf, demandHook, stepsOf } from './services/scripts/stored.ts'
export type { Verdict } from './services/verify.ts'
export type { Stored } from './store/entities.ts'
export { BEGUN, type KeptAnswer } from './store/idempotency.ts'
export { BEGINNING, type Head } from './store/log.ts'
export { layOut } from './store/meta.ts'
export type { NonLogTables } from './store/non-log-tables.ts'
export { detach, rewind } from './store/rewind.ts'
export { openTenant, type RequestContext, Tenant } from './tenant.ts'
export { entityText, entityView } from './view/entity.ts'
export { eventText } from './view/event.ts'
export type { Operation } from './write/run-verb.ts'
export type { RunResult } from './write/verb-request.ts'
