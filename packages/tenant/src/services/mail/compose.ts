import { type Issue, invalid, isPlainObject, type Json, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { OutgoingFile, OutgoingMail } from '../../ports.ts'
import { currentOf } from '../../store/entities.ts'
import { filesIn } from '../../write/files.ts'
import { keyOfFile } from '../files/contents.ts'
import { blobsOf } from '../files/receive.ts'
import { addressOf, hasControl } from './address.ts'
import { inboxOf } from './inbox.ts'
import { htmlOf } from './markdown.ts'
import { type Transport, transportOf } from './transport.ts'

const MOST_RECIPIENTS = 100
const MOST_REFERENCES = 20
/** Bytes of all attachments: what most mail servers take. */
const MOST_ATTACHED = 18_874_368
const LISTS = ['to', 'cc', 'bcc'] as const

/** What is wrong with a message as an e-mail. */
export function mailIssues(engine: Engine, message: JsonObject): Issue[] {
  const { from, replyTo, subject, attachments } = message
  const count = LISTS.reduce((sum, field) => sum + textsIn(message[field]).length, 0)
  const attached = filesIn(attachments).reduce((sum, { size }) => sum + size, 0)
  return [
    ...LISTS.flatMap((field) =>
      textsIn(message[field]).flatMap((one, i) => (addressOf(one) === null ? [notAddress(`${field}.${i}`)] : [])),
    ),
    ...(count > MOST_RECIPIENTS
      ? [{ field: 'to', message: `may have ${MOST_RECIPIENTS} recipients, cc and bcc included` }]
      : []),
    ...(typeof replyTo === 'string' && addressOf(replyTo) === null ? [notAddress('replyTo')] : []),
    ...(typeof subject === 'string' && hasControl(subject) ? [{ field: 'subject', message: 'must be one line' }] : []),
    ...(typeof from === 'string' ? fromIssues(engine, from) : []),
    ...(attached > MOST_ATTACHED
      ? [
          {
            field: 'attachments',
            message: `may have at most ${MOST_ATTACHED} bytes in an e-mail; these have ${attached}`,
          },
        ]
      : []),
  ]
}

function fromIssues(engine: Engine, from: string): Issue[] {
  const address = addressOf(from)
  if (address === null) return [notAddress('from')]
  const own = [...inboxOf(engine).addresses, addressOf(transportOf(engine)?.from ?? '')?.toLowerCase()]
  if (own.includes(address.toLowerCase())) return []
  return [{ field: 'from', message: 'must be an address of the inbox of this tenant; PUT …/inbox sets them' }]
}

/** The recipients of a message: `to`, or the address of its `recipient`. */
export function recipientsOf({ sql }: Engine, message: JsonObject): string[] {
  const to = textsIn(message.to)
  if (to.length > 0 || typeof message.recipient !== 'string') return to
  const contact = currentOf(sql, 'Contact', message.recipient)
  const email = contact && !contact.deleted ? (JSON.parse(contact.data) as JsonObject).email : null
  return typeof email === 'string' && addressOf(email) !== null ? [email] : []
}

/** All whom a message goes to, in the open or not. */
export function addresseesOf(engine: Engine, message: JsonObject): string[] {
  return [...recipientsOf(engine, message), ...textsIn(message.cc), ...textsIn(message.bcc)]
}

/** A Message as an e-mail. It is checked as it is now: it may have changed since it was queued. */
export function composed(engine: Engine, id: string, message: JsonObject, transport: Transport): OutgoingMail {
  const issues = mailIssues(engine, message)
  if (issues.length > 0) throw invalid('Message', issues)
  const { from: given, replyTo, subject, body, html, messageId, automatic } = message
  const references = referencesOf(engine, message)
  const text = typeof body === 'string' ? body : ''
  const from = typeof given === 'string' ? given : transport.from
  const unsubscribe = references.length > 0 ? null : unsubscribeOf(engine, from)
  return {
    messageId: messageId as string,
    from,
    to: recipientsOf(engine, message),
    cc: textsIn(message.cc),
    bcc: textsIn(message.bcc),
    ...(typeof replyTo === 'string' && { replyTo }),
    subject: typeof subject === 'string' ? subject : '',
    text,
    html: typeof html === 'string' ? html : htmlOf(text),
    ...(references.length > 0 && { inReplyTo: references.at(-1)!, references }),
    ...(unsubscribe !== null && { unsubscribe }),
    ...(automatic === true && { isAutomatic: true }),
    attachments: filesIn(message.attachments).flatMap((file) => attached(engine, id, file)),
  }
}

/** Where the recipient of a message that begins a thread unsubscribes: at our inbox. */
function unsubscribeOf(engine: Engine, from: string): string | null {
  const address = addressOf(from)!.toLowerCase()
  return inboxOf(engine).addresses.includes(address) ? `<mailto:${address}?subject=unsubscribe>` : null
}

function attached(engine: Engine, message: string, file: ReturnType<typeof filesIn>[number]): OutgoingFile[] {
  const key = keyOfFile(engine, message, file)
  if (key === null) return []
  return [{ name: file.name, type: file.type, read: () => blobsOf(engine).read(key, 0, file.size) }]
}

/** The ids of the messages before in the same thread, the oldest first. */
function referencesOf({ sql }: Engine, message: JsonObject): string[] {
  const found: string[] = []
  const seen = new Set<string>()
  let next: Json | undefined = message.inReplyTo
  while (typeof next === 'string' && !seen.has(next) && found.length < MOST_REFERENCES) {
    seen.add(next)
    const before = currentOf(sql, 'Message', next)
    const data: unknown = before ? JSON.parse(before.data) : null
    if (!isPlainObject(data)) break
    if (typeof data.messageId === 'string') found.unshift(data.messageId)
    next = data.inReplyTo as Json
  }
  return found
}

function notAddress(field: string): Issue {
  return { field, message: 'is not an e-mail address' }
}

function textsIn(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
}
