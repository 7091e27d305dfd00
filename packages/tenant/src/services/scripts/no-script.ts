import { Problem } from '@tildebase/nouns'

/** The problem of a host that cannot run stored code. */
export function noScript(): Problem {
  return new Problem('not_supported', 'This host does not run code: it has no interpreter to run it in.')
}
