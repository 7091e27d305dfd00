import { Readable } from 'node:stream'
import type { Mail, MailOutcome, OutgoingMail } from '@tildebase/tenant/ports'
import type { Transporter } from 'nodemailer'
import { MailParser } from '../threads/mail/parser.ts'
import { type GuardedServer, operatorsServer, targetOf } from './mail-server.ts'
import { fetchMailbox, openMailbox } from './mailbox.ts'

/** What the operator says about e-mail. */
export interface MailSettings {
  /** The mail server of the service, or null. */
  readonly smtp: { readonly url: string; readonly from: string } | null
  /** The mailbox of the service, or null. */
  readonly imap: string | null
  /** Lets messages be sent without TLS and to addresses that are not public, for tests. */
  readonly insecure: boolean
  /** Takes addresses of the mailbox of the service, if it has one. */
  readonly claim?: Mail['claim']
}

const TIMEOUT_MS = 20_000
const MOST_CONNECTIONS = 10
const MOST_PER_CONNECTION = 1_000
/** Servers to which connections are kept open, and for how long without use: no message takes as long. */
const MOST_SERVERS = 50
const IDLE_MS = 30_000

/** Connections to a server. */
interface OpenServer {
  readonly transporter: Promise<Transporter>
  readonly idle: NodeJS.Timeout
}

/** Sends e-mail by SMTP and fetches it by IMAP. Certificates are checked; without TLS nothing is sent, unless the operator allows it. */
export function createMail({ smtp, imap, insecure, claim }: MailSettings): Mail {
  const open = new Map<string, OpenServer>()
  const own = smtp && operatorsServer(smtp.url)
  const parser = new MailParser()
  const close = (key: string) => {
    const unused = open.get(key)
    open.delete(key)
    clearTimeout(unused?.idle)
    unused?.transporter.then((one) => one.close()).catch(() => {})
  }
  const transporter = (server: GuardedServer): Promise<Transporter> => {
    const key = JSON.stringify(server)
    const known = open.get(key)
    clearTimeout(known?.idle)
    const opened = known?.transporter ?? openTransporter(server, insecure)
    // The one that was used longest ago is the first.
    open.delete(key)
    open.set(key, { transporter: opened, idle: setTimeout(() => close(key), IDLE_MS).unref() })
    opened.catch(() => close(key))
    if (open.size > MOST_SERVERS) close([...open.keys()][0]!)
    return opened
  }
  return {
    from: smtp?.from ?? null,
    own: [smtp?.from ?? '', imap === null ? '' : operatorsServer(imap).username].flatMap(addressesIn),
    ...(claim && { claim }),
    async send(mail, given) {
      const server = given ? { ...given, isTenants: true } : own
      if (server === null) return { error: 'This service has no mail server.', isFinal: true }
      try {
        const { rejectedErrors = [] } = (await (await transporter(server)).sendMail(messageOf(mail))) as SentMail
        return { isSent: true, ...(rejectedErrors.length > 0 && { refused: refusalsIn(rejectedErrors) }) }
      } catch (reason) {
        return outcomeOf(reason as SmtpError)
      }
    },
    async check(given) {
      const server = { ...given, isTenants: true }
      try {
        if (/^imap/.test(given.url)) await (await openMailbox(server, insecure)).logout()
        else await checkTransporter(server, insecure)
        return null
      } catch (reason) {
        return (reason as Error).message.slice(0, 200)
      }
    },
    parse: (raw, slug) => parser.parse(raw, slug),
    fetch: (server, after, slug) =>
      fetchMailbox({ ...server, isTenants: true }, after, insecure, (raw) => parser.parse(raw, slug)),
  }
}

/** The addresses in a text, in lower case. */
function addressesIn(text: string): readonly string[] {
  return text.toLowerCase().match(/[^\s<>]+@[^\s<>]+/g) ?? []
}

async function openTransporter(server: GuardedServer, insecure: boolean): Promise<Transporter> {
  // The client is loaded by the first message: most servers send none.
  const { createTransport } = await import('nodemailer')
  const { secure, host, name, port } = await targetOf(server, insecure)
  return createTransport({
    host,
    port: port ?? (secure ? 465 : 587),
    secure,
    requireTLS: !insecure,
    tls: { servername: name, rejectUnauthorized: !insecure },
    ...(server.username !== '' && { auth: { user: server.username, pass: server.password } }),
    pool: true,
    maxConnections: MOST_CONNECTIONS,
    maxMessages: MOST_PER_CONNECTION,
    connectionTimeout: TIMEOUT_MS,
    greetingTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    // Content comes from the message alone: no file and no address is read.
    disableFileAccess: true,
    disableUrlAccess: true,
  })
}

async function checkTransporter(server: GuardedServer, insecure: boolean): Promise<void> {
  const transporter = await openTransporter(server, insecure)
  try {
    await transporter.verify()
  } finally {
    transporter.close()
  }
}

function messageOf({
  messageId,
  to,
  cc,
  bcc,
  references,
  unsubscribe,
  isAutomatic,
  attachments,
  ...mail
}: OutgoingMail) {
  return {
    ...mail,
    messageId,
    to: [...to],
    cc: [...cc],
    bcc: [...bcc],
    ...(references && { references: [...references] }),
    headers: {
      ...(unsubscribe !== undefined && { 'List-Unsubscribe': unsubscribe }),
      ...(isAutomatic && { 'Auto-Submitted': 'auto-generated' }),
    },
    attachments: attachments.map(({ name, type, read }) => ({
      filename: name,
      contentType: type,
      content: Readable.from(read()),
    })),
  }
}

/** What nodemailer says of a message that the server has accepted for some recipients at least. */
interface SentMail {
  readonly rejectedErrors?: readonly (Error & { readonly recipient?: string; readonly response?: string })[]
}

function refusalsIn(errors: NonNullable<SentMail['rejectedErrors']>): string {
  const each = errors.map(({ recipient, response, message }) => `${recipient} (${(response ?? message).slice(0, 100)})`)
  return `Refused for ${each.join(', ')}.`.slice(0, 500)
}

type SmtpError = Error & { readonly responseCode?: number; readonly code?: string }

/** An answer from 500 on is final, as RFC 5321 says, but for a refused sign-in; so is what no server was asked about. */
function outcomeOf({ message, responseCode, code }: SmtpError): MailOutcome {
  const isFinal = responseCode === undefined ? code === 'EENVELOPE' : responseCode >= 500 && code !== 'EAUTH'
  return { error: message.slice(0, 500), isFinal }
}
