import type { ErrorCodes } from './error-code.ts'

/** Faults in a question about entities. */
export const QUERY_ERRORS: ErrorCodes = {
  invalid_limit: {
    status: 400,
    cause: '`limit` is not a whole number, or is outside its range.',
    remedy: 'Use 1 to 100 for lists and 1 to 1000 for events. Follow `cursor` for more.',
  },
  invalid_offset: {
    status: 400,
    cause: '`offset` is not a whole number from 0.',
    remedy: 'Correct it, or page with `cursor`.',
  },
  invalid_filter: {
    status: 400,
    cause: 'The filter is not JSON, has an unknown operator or an operand of the wrong kind, or is too large.',
    remedy: '`field` names the part. `supported` lists the operators that are possible there.',
  },
  invalid_sort: {
    status: 400,
    cause: '`sort` names no field of the type, follows a relation, or has more than 8 keys.',
    remedy: 'Sort by fields of the type itself, such as `sort=stage,-value`.',
  },
  invalid_include: {
    status: 400,
    cause: '`include` names something that is not a relation, or goes deeper than 3 levels.',
    remedy: 'The message lists the relations of the type.',
  },
  invalid_fields: {
    status: 400,
    cause: '`fields` is not a list of field names.',
    remedy: 'Write names with commas: `fields=name,email`.',
  },
  invalid_group: {
    status: 400,
    cause:
      '`group`, `sum`, `avg`, `min` or `max` of an aggregation names something that cannot be grouped or measured.',
    remedy: 'Name at most 10 fields each. Group a time by `:hour`, `:day`, `:week`, `:month`, `:quarter` or `:year`.',
  },
  invalid_as_of: {
    status: 400,
    cause: '`asOf` is not a time, a relative time or a `seq`.',
    remedy: 'Use ISO 8601, `now`, `today`, `7d ago`, or the `seq` of an event.',
  },
  invalid_cursor: {
    status: 400,
    cause: 'The cursor is damaged, or comes from a list with another filter or sort.',
    remedy: 'Send the cursor with the same parameters as the page before, or start again without it.',
  },
  invalid_since: {
    status: 400,
    cause: '`since` is not a time.',
    remedy: 'Use ISO 8601, `now`, `today` or `7d ago`.',
  },
  over_budget: {
    status: 422,
    cause: 'The request needs more time, rows or bytes than it may use. `limit` says which.',
    remedy: 'Filter by an indexed field, ask for less, or use an export. The operator can raise the setting.',
  },
}
