import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..', '..')
const { TILDE_COMMAND } = process.env

/** The file that users run as `tilde`: joined by `npm test`, or else that of the sources. */
export const COMMAND = TILDE_COMMAND ?? join(ROOT, 'packages', 'cli', 'bin', 'tilde.js')

/** A folder that has this command in its `node_modules`, and the docs. */
export const HOME = TILDE_COMMAND === undefined ? ROOT : join(TILDE_COMMAND, '..', '..', '..', '..', '..')
