import { ERROR_CODES } from '../../packages/server/src/doors/error-codes.ts'
import { code, table } from './markdown.ts'

/** Every error code of the service, by status. */
export function errorTable(): string {
  const rows = Object.entries(ERROR_CODES)
    .sort(([, one], [, other]) => one.status - other.status)
    .map(([name, { status, cause, remedy }]) => [code(name), String(status), cause, remedy])
  return table(['Code', 'Status', 'Cause', 'Remedy'], rows)
}

/** The codes that the client and the command line use for what happens on their side. */
const LOCAL: { readonly [name: string]: readonly [cause: string, remedy: string] } = {
  unreachable: ['The server does not answer.', 'Check the address, and that the server runs.'],
  unexpected_answer: [
    'The answer does not come from Tildebase, such as an error page of a proxy.',
    'Check the address and the proxy.',
  ],
  invalid_key: ['The API key has characters that no key has.', 'Give the secret alone, as it was shown on creation.'],
  invalid_signature: [
    'The signature, the time or the body of a webhook delivery is wrong.',
    'Answer 400. Check that the secret is that of the webhook, and that the raw body is verified.',
  ],
  unknown_step: ['A step of one batch was used in another batch.', 'Refer to steps of the same batch.'],
  rows_rejected: ['`tilde import` imported only some rows.', 'Read the list of rejected rows (`--json` shows all).'],
  changes_rejected: ['`tilde sync` had to take back local changes.', 'Read the list, and change the entities again.'],
  cancelled: [
    'The program or the person ended an import.',
    'Rows that were imported before stay. `unknown` counts rows that were sent and not answered for: they may be stored.',
  ],
  incomplete: ['`tilde backup` did not save all tenants.', 'Read the list of tenants, and run it again.'],
  damaged: [
    '`tilde verify`, `prove` or `restore` found data that does not match its hashes or its signature.',
    'Restore from a backup. Keep the damaged files for the investigation.',
  ],
}

/** The names of these codes. */
export const LOCAL_CODES = Object.keys(LOCAL)

/** The codes of the client and the command line. */
export function localErrorTable(): string {
  return table(
    ['Code', 'Cause', 'Remedy'],
    Object.entries(LOCAL).map(([name, [cause, remedy]]) => [code(name), cause, remedy]),
  )
}
