export { Budget, type BudgetLimits, overBudget } from './budget.ts'
export type { Ports, TenantOptions } from './engine/options.ts'
export type { TenantAdmin, TenantInfo } from './facade/admin.ts'
export type { Follower, LiveSource } from './facade/follower.ts'
export type { CheckpointView, ConsistencyView, Prover } from './facade/prover.ts'
export type { TenantReader } from './facade/reader.ts'
export type { TenantWriter } from './facade/writer.ts'
export { type Grant, OPERATOR } from './grant/grant.ts'
export { isId, randomText } from './ids.ts'
export { parseFields, project } from './query/fields.ts'
export type { Page, Query } from './query/find.ts'
export { DEFAULT_LIMIT, limitOf, offsetOf } from './query/limits.ts'
export {
  bodyNames,
  filterNames,
  listedNames,
  MOST_UNKNOWN,
  sortNames,
  type UnknownField,
} from './query/unknown-names.ts'
export { type ImportCounts, type ImportDetail, Importer } from './services/bulk/import.ts'
export type { ImportRow } from './services/bulk/import-row.ts'
export type { Snapshot } from './services/bulk/snapshot.ts'
export type { Patterns } from './services/events/changes.ts'
export { tenantOfSecret } from './services/keys.ts'
export type { EventProof } from './services/proof/event-proof.ts'
export type { Stored } from './store/entities.ts'
export { BEGUN, type KeptAnswer } from './store/idempotency.ts'
export { openTenant, type RequestContext, Tenant } from './tenant.ts'
export { entityText, entityView } from './view/entity.ts'
export { eventText } from './view/event.ts'
export type { Operation } from './write/run-verb.ts'
export type { RunResult } from './write/verb-request.ts'
