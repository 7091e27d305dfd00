import { isPlainObject } from '@tildebase/nouns'

/** The extensions of the protocol that this server knows. */
export const TASKS = 'io.modelcontextprotocol/tasks'
export const APPS = 'io.modelcontextprotocol/ui'

/** Where a request of revision 2026-07-28 says what its client can do. */
const CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities'

/** What the client of a request declares. */
export interface McpClient {
  /** It follows a proposal as a task. */
  readonly tasks: boolean
  /** It shows pages of this server. */
  readonly apps: boolean
  /** It opens an address for its person. */
  readonly urls: boolean
}

/** The beginning of the session id of a client with a handshake that shows pages. No session is kept: the id says it. */
const SHOWS_PAGES = 'ui-'

/** What a message declares, or for clients with a handshake what the session id that they got with it says. */
export function clientOf(message: unknown, sessionId: string | undefined): McpClient {
  const params = isPlainObject(message) && isPlainObject(message.params) ? message.params : {}
  const meta = isPlainObject(params._meta) ? params._meta : {}
  const declared = isPlainObject(meta[CAPABILITIES]) ? meta[CAPABILITIES] : null
  if (declared === null) return { tasks: false, urls: false, apps: sessionId?.startsWith(SHOWS_PAGES) ?? false }
  const extensions = isPlainObject(declared.extensions) ? declared.extensions : {}
  const elicitation = isPlainObject(declared.elicitation) ? declared.elicitation : {}
  return { tasks: isPlainObject(extensions[TASKS]), apps: isPlainObject(extensions[APPS]), urls: 'url' in elicitation }
}

/** The session id for a handshake; null for every other message, and for a client that shows no pages. */
export function sessionFor(message: unknown): string | null {
  if (!isPlainObject(message) || message.method !== 'initialize' || !isPlainObject(message.params)) return null
  const { capabilities } = message.params
  const extensions = isPlainObject(capabilities) ? capabilities.extensions : null
  return isPlainObject(extensions) && isPlainObject(extensions[APPS]) ? `${SHOWS_PAGES}${crypto.randomUUID()}` : null
}
