import type { ErrorCodes } from './error-code.ts'

/** States of the service or of a tenant. */
export const SERVICE_ERRORS: ErrorCodes = {
  unknown_tenant: {
    status: 404,
    cause: 'An operator request names a tenant that does not exist.',
    remedy: '`tilde tenants list` shows the tenants.',
  },
  internal: {
    status: 500,
    cause: 'A fault of the service.',
    remedy: 'Report it with the `requestId`, which the log has too.',
  },
  not_supported: {
    status: 501,
    cause: 'This host cannot do it: for example passwords on Durable Objects.',
    remedy: 'The message names the alternative.',
  },
  layout_too_new: {
    status: 503,
    cause: 'A newer version of the service wrote the file of the tenant.',
    remedy: 'Run that version or a later one.',
  },
  unavailable: {
    status: 503,
    cause: 'The tenant cannot be opened or written: a full disk, a damaged file, or the service is stopping.',
    remedy: 'Wait as long as `Retry-After` says. The operator reads the log and `tilde doctor`.',
  },
  over_quota: {
    status: 507,
    cause: 'The tenant has reached the space that the operator allows (`TILDE_TENANT_LIMIT`).',
    remedy: 'Delete or erase what is not needed, or ask the operator for more. Reading continues.',
  },
  busy: {
    status: 503,
    cause: 'The tenant has too many requests at the same time, or the memory for bodies is full.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
  quarantined: {
    status: 503,
    cause: 'The thread of the tenant died twice within a minute, so the tenant is closed for ten minutes.',
    remedy: 'The operator reads the log, then sends `POST /operator/tenants/:tenant/release`.',
  },
  restoring: {
    status: 503,
    cause: 'The tenant is being restored from a backup.',
    remedy: 'Wait until the restore is complete.',
  },
}
