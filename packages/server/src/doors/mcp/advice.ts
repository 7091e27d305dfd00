import type { Problem } from '@tildebase/nouns'

const SCHEMA = 'Call fetch with type "Schema" and the type as id to see its fields and verbs.'

/** What an agent can do next about a problem. */
const ADVICE: { readonly [code: string]: string } = {
  unknown_type: 'Call fetch with type "Schema" and no id to see all types.',
  unknown_verb: SCHEMA,
  invalid_filter: SCHEMA,
  invalid_sort: SCHEMA,
  invalid_include: SCHEMA,
  validation_error: SCHEMA,
  invalid_transition: 'Fetch the entity and choose a verb that its state allows.',
  not_found: 'Search for it: results contain the $id.',
  forbidden: 'Continue without it, or ask for a key with that scope.',
  conflict: 'Search for the existing entity and use it.',
  version_mismatch: 'Fetch the entity again and retry with its new state.',
  rejected: 'A rule of this tenant refuses it; change your input accordingly.',
  invalid_cursor: 'Omit the cursor and begin with the first page.',
  over_budget: 'Narrow the filter.',
  rate_limited: 'Wait a moment and try again.',
  busy: 'Wait a second and try again.',
  unavailable: 'Wait a few seconds and try again.',
  script_error: 'Correct the code and run it again; dryRun tests it without writing.',
  script_timeout: 'Do less in one run: use a narrower filter, or one page per run.',
  script_memory: 'Keep less data: use limit, or count instead of find.',
  script_operations: 'Split the work over several runs.',
  script_result: 'Return only the fields that you need.',
}

/** A problem as an agent reads it: what went wrong, what to do next, and how to take back what was written before it. */
export function adviceOn({ code, message, about }: Problem): object {
  const written = typeof about.correlation === 'string'
  // Code that lacks a right is not what has to change.
  const advice = ADVICE[about.reason === 'forbidden' ? about.reason : code]
  const next = [advice, written && `Earlier writes remain; POST …/undo/${about.correlation} undoes them.`].filter(
    Boolean,
  )
  return { error: code, message, ...about, ...(next.length > 0 && { next: next.join(' ') }) }
}
