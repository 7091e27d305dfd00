// What the server of this repository needs in addition: @tildebase/tenant/internal. It changes without notice.
export { overBudget } from './budget.ts'
export { FILE_DEFAULTS, type FileOptions, WEBHOOK_DEFAULTS } from './engine/options.ts'
export { quotaWarning } from './engine/quota.ts'
export { asSteps, done, isSteps, TURN } from './engine/turns.ts'
export type { OpenFile, TenantFileAccess } from './facade/files.ts'
export type { User } from './facade/identity.ts'
export { onlyProposes, personOf } from './grant/grant.ts'
export { common, scopesText } from './grant/scopes.ts'
export { isId, randomText } from './ids.ts'
export { parseFields, project } from './query/parameters/fields.ts'
export { DEFAULT_LIMIT, limitOf, offsetOf } from './query/parameters/limits.ts'
export {
  bodyNames,
  filterNames,
  listedNames,
  MOST_UNKNOWN,
  sortNames,
  type UnknownField,
} from './query/parameters/unknown-names.ts'
export { HistoryImporter } from './services/bulk/history.ts'
export { type ImportCounts, type ImportDetail, Importer, type RowImporter } from './services/bulk/import.ts'
export type { ReceivedContent } from './services/files/receive.ts'
export type { PartCheck, ReceivedPart, UploadState } from './services/files/uploads.ts'
export { invalidInvitation, type NewCredential } from './services/identity/invitations.ts'
export { hasPeople, knowsToken, tenantOfSession } from './services/identity/secrets.ts'
export { keyIdOf, tenantOfSecret } from './services/keys.ts'
export { sealedEvent } from './services/portable/chain.ts'
export { FORM, type LogPart } from './services/portable/log.ts'
export { codeOf, demandHook, stepsOf } from './services/scripts/stored.ts'
export type { Verdict } from './services/verify.ts'
export { forgetTimers } from './store/automation/timers.ts'
export { BEGUN } from './store/idempotency.ts'
export { LAYOUT_VERSION } from './store/layout.ts'
export { BEGINNING, type Head, headAfter } from './store/log/log.ts'
export { detach, rewind } from './store/log/rewind.ts'
export { ensureLayout, layOut } from './store/meta.ts'
export type { NonLogTables } from './store/non-log-tables.ts'
export type { Client, Consent } from './store/people/consents.ts'
export type { Credential } from './store/people/credentials.ts'
export type { Token } from './store/people/tokens.ts'
export { entityText } from './view/entity.ts'
export { eventText } from './view/event.ts'
