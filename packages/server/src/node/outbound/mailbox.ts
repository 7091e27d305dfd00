import { Problem } from '@tildebase/nouns'
import type { FetchedMail, IncomingMail } from '@tildebase/tenant/ports'
import type { ImapFlow } from 'imapflow'
import { type GuardedServer, targetOf } from './mail-server.ts'

const TIMEOUT_MS = 30_000
const LARGEST = 26_214_400
/** Messages of one visit. */
const MOST_MESSAGES = 1_000

/** A connection to a mailbox, signed in. */
export async function openMailbox(server: GuardedServer, insecure: boolean): Promise<ImapFlow> {
  const { host, name, port, secure } = await targetOf(server, insecure)
  // The client is loaded by the first mailbox: most services have none.
  const { ImapFlow } = await import('imapflow')
  const client = new ImapFlow({
    host,
    servername: name,
    port: port ?? (secure ? 993 : 143),
    secure,
    // Without TLS from the beginning the connection must change to it.
    ...(!secure && { doSTARTTLS: insecure ? undefined : true }),
    auth: { user: server.username, pass: server.password },
    logger: false,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    ...(insecure && { tls: { rejectUnauthorized: false } }),
  })
  // A connection that breaks later is reported by the call that waits for it.
  client.on('error', () => {})
  await client.connect()
  return client
}

/** The messages of the inbox after a place, oldest first. */
export async function* fetchMailbox(
  server: GuardedServer,
  after: string | null,
  insecure: boolean,
  parse: (raw: Uint8Array) => Promise<IncomingMail>,
): AsyncGenerator<FetchedMail> {
  for await (const { source, place } of readMailbox(server, after, insecure)) {
    yield { mail: source && (await parse(source).catch(unreadable)), place }
  }
}

/** A message that cannot be read is left out: those after it are not to wait for it. */
function unreadable(reason: unknown): null {
  if (reason instanceof Problem && reason.code !== 'busy') return null
  throw reason
}

/** A message as it is in a mailbox; without its bytes when it is too large, or has gone. */
interface RawMail {
  readonly source: Uint8Array | null
  readonly place: string
}

/** The same as bytes. The place is `<validity>:<uid>`; a new validity begins again. */
export async function* readMailbox(
  server: GuardedServer,
  after: string | null,
  insecure: boolean,
): AsyncGenerator<RawMail> {
  const client = await openMailbox(server, insecure)
  try {
    const { uidValidity } = await client.mailboxOpen('INBOX', { readOnly: true })
    const [validity, last] = after?.split(':') ?? []
    const from = validity === String(uidValidity) ? Number(last) + 1 : 1
    const found = await client.search({ uid: `${from}:*` }, { uid: true })
    // `*` is the newest message, also when it is older than `from`.
    const uids = (found || []).filter((uid) => uid >= from).sort((one, other) => one - other)
    for (const uid of uids.slice(0, MOST_MESSAGES)) {
      const about = await client.fetchOne(String(uid), { size: true }, { uid: true })
      const isSmall = about && (about.size ?? 0) <= LARGEST
      const message = isSmall ? await client.fetchOne(String(uid), { source: true }, { uid: true }) : false
      yield { source: message ? (message.source ?? null) : null, place: `${uidValidity}:${uid}` }
    }
  } finally {
    await client.logout().catch(() => client.close())
  }
}
