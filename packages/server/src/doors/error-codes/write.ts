import type { ErrorCodes } from './error-code.ts'

/** Reasons why a write changes nothing. */
export const WRITE_ERRORS: ErrorCodes = {
  invalid_operation: {
    status: 400,
    cause: 'An operation of a batch or of a changeset is not one that is possible there.',
    remedy: 'The message names the operation and what it may be.',
  },
  invalid_ref: {
    status: 400,
    cause: 'A reference in a batch names an operation that does not exist or that comes later.',
    remedy: 'Refer only to operations before this one, by their `id`.',
  },
  invalid_version: {
    status: 400,
    cause: 'A version number is not a whole number from 1, or the entity has no such version.',
    remedy: 'Read `GET …/:type/:id/history` for the versions.',
  },
  not_found: {
    status: 404,
    cause: 'There is no such entity, or it is deleted, or the key may not see it.',
    remedy: 'Check the id. A deleted entity can be read with `asOf` and brought back with `restore`.',
  },
  unknown_type: {
    status: 404,
    cause: 'The tenant has no type of this name.',
    remedy: 'The message names the nearest types. `GET …/schema` lists all of them.',
  },
  unknown_verb: {
    status: 404,
    cause: 'The type has no verb of this name.',
    remedy: 'The message names the verbs of the type.',
  },
  conflict: {
    status: 409,
    cause: 'A unique value is taken, a changeset conflicts with later changes, or something exists already.',
    remedy: '`field` or `conflicts` names it. Choose another value, or read the entity and decide.',
  },
  invalid_transition: {
    status: 409,
    cause: 'The verb is not possible in the present state, or a guarded state was changed without a verb.',
    remedy: 'The answer names the state, and `verbs` lists the verbs that lead there.',
  },
  in_flight: {
    status: 409,
    cause: 'A request with the same `Idempotency-Key` is still running.',
    remedy: 'Wait, then send it again to get its answer.',
  },
  version_mismatch: {
    status: 412,
    cause: 'The entity has another version than `If-Match` says: another client changed it.',
    remedy: 'Read the entity again and retry with its new `ETag`.',
  },
  validation_error: {
    status: 422,
    cause: 'One or more fields are missing, of the wrong kind, or refer to an entity that does not exist.',
    remedy: '`details` lists every field with a message.',
  },
  invalid_schema: {
    status: 422,
    cause: 'The declaration of a type has faults, or stored entities do not fit it.',
    remedy: '`details` lists every fault.',
  },
  rejected: {
    status: 422,
    cause: 'A BEFORE hook refused the verb. Nothing was written.',
    remedy: 'The message is the one of the hook.',
  },
  idempotency_mismatch: {
    status: 422,
    cause: 'The `Idempotency-Key` was used with another body.',
    remedy: 'Use a new key for a new request.',
  },
  batch_failed: {
    status: 422,
    cause: 'An operation of an atomic batch failed, so nothing was written.',
    remedy: '`results` shows which operation failed and why.',
  },
  dependency_failed: {
    status: 424,
    cause: 'In a batch: the operation that this one refers to failed.',
    remedy: 'Correct the other operation.',
  },
}
