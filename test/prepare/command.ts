import { join } from 'node:path'

/** The file that users run as `tilde`: joined by `npm test`, or else that of the sources. */
export const COMMAND =
  process.env.TILDE_COMMAND ?? join(import.meta.dirname, '..', '..', 'packages', 'cli', 'bin', 'tilde.js')
