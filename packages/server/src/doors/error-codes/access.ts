import type { ErrorCodes } from './error-code.ts'

/** Reasons why a sender is refused. */
export const ACCESS_ERRORS: ErrorCodes = {
  unauthorized: {
    status: 401,
    cause: 'The key is missing, malformed, unknown, revoked or expired, or the session has ended.',
    remedy: 'Send `Authorization: Bearer <key>` with an active key, or sign in again.',
  },
  forbidden: {
    status: 403,
    cause:
      'The key belongs to another tenant, its scopes do not cover the request, or its row filter excludes the entity.',
    remedy: 'The message names the scope that is needed. Ask an administrator for a key that has it.',
  },
  rate_limited: {
    status: 429,
    cause: 'The key, the account or the address has sent too many requests, or has too many at the same time.',
    remedy: 'Wait as long as `Retry-After` says.',
  },
}
