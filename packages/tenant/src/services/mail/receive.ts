import { type FileValue, isoOf, type JsonObject, Problem } from '@tildebase/nouns'
import { grantFor } from '../../grant/grant.ts'
import type { IncomingMail } from '../../ports.ts'
import { isVisible } from '../../query/rights/visible-entity.ts'
import { currentOf, entitiesSpelled, entitiesWith, presentOf, type Stored } from '../../store/entities.ts'
import { runVerb } from '../../write/run-verb.ts'
import type { Write } from '../../write/write.ts'
import { addressOf } from './address.ts'
import { inboxOf } from './inbox.ts'

/** An e-mail whose attachments are kept already. */
export type KeptMail = Omit<IncomingMail, 'attachments'> & { readonly attachments: readonly FileValue[] }

/** What became of a message that came in. */
export interface Received {
  readonly message: Stored
  readonly isRepeated: boolean
}

type Found = Pick<Stored, 'id' | 'data'>

const CLOSED = ['Closed', 'Resolved']
/** Characters of a text that are kept: an entity has at most 1 MiB. */
const MOST_TEXT = 200_000
const MOST_DESCRIPTION = 10_000
const MOST_SUBJECT = 1_000
const MOST_ADDRESSES = 500

/**
 * Keeps an e-mail as a Message, linked to its Contact, its thread and its Ticket. One with a Message-ID that is known
 * changes nothing. Contacts and Tickets follow from the settings of the inbox, not from the rights of the caller.
 */
export function receive(write: Write, mail: KeptMail): Received {
  return write.attempt(() => {
    const known = messageWith(write, mail.messageId)
    if (known) return repeated(write, known.id)
    const own = write.as(grantFor('mail'))
    if (mail.bounced) bounce(own, mail.bounced)
    const { addresses } = inboxOf(write.engine)
    // What we sent ourselves comes back from a list or a forwarder: it is no question.
    const isAutomatic = mail.isAutomatic || (mail.from !== null && addresses.includes(mail.from.toLowerCase()))
    const before = mail.references.flatMap((id) => messageWith(write, id) ?? [])[0] ?? null
    const sender = mail.from === null ? null : senderOf(own, mail.from, mail.fromName, isAutomatic)
    const isRefusal = !isAutomatic && sender !== null && isUnsubscribe(mail)
    if (isRefusal) unsubscribe(own, sender)
    const ticket = isAutomatic || isRefusal ? ticketOf(before) : threadTicket(own, mail, before, sender)
    const { entity } = runVerb(write, {
      type: 'Message',
      verb: 'create',
      data: { ...fieldsOf(mail), ...links({ sender, before, ticket }), ...(isAutomatic && { automatic: true }) },
    })
    return { message: entity, isRepeated: false }
  })
}

/** The message that is known, if the caller may read it. */
function repeated({ engine, sql, grant, context }: Write, id: string): Received {
  if (!isVisible(engine, grant, engine.noun('Message'), id, context.budget))
    throw new Problem('conflict', 'A Message with this Message-ID is known already.', { type: 'Message' })
  return { message: presentOf(sql, 'Message', id)!, isRepeated: true }
}

function fieldsOf(mail: KeptMail): JsonObject {
  const { html, replyTo, sentAt, attachments } = mail
  return {
    channel: 'Email',
    direction: 'In',
    status: 'Delivered',
    messageId: mail.messageId,
    subject: mail.subject.slice(0, MOST_SUBJECT),
    body: mail.text.slice(0, MOST_TEXT),
    ...(html !== null && html.length <= MOST_TEXT && { html }),
    ...(mail.from !== null && { from: mail.from }),
    to: mail.to.slice(0, MOST_ADDRESSES),
    cc: mail.cc.slice(0, MOST_ADDRESSES),
    ...(replyTo !== null && { replyTo }),
    ...(sentAt !== null && { sentAt: isoOf(sentAt) }),
    ...(attachments.length > 0 && { attachments: attachments.map(({ hash, name }) => ({ hash, name })) }),
  }
}

function links({ sender, before, ticket }: { sender: Found | null; before: Found | null; ticket: string | null }) {
  return {
    ...(sender !== null && { sender: sender.id }),
    ...(before !== null && { inReplyTo: before.id }),
    ...(ticket !== null && { ticket }),
  }
}

/** The Ticket of a thread: the one that it has, reopened where it was closed, or a new one if the inbox asks for it. */
function threadTicket(write: Write, mail: KeptMail, before: Found | null, sender: Found | null): string | null {
  const known = ticketOf(before)
  const ticket = known === null ? undefined : currentOf(write.sql, 'Ticket', known)
  if (ticket && !ticket.deleted) {
    const { status } = JSON.parse(ticket.data) as JsonObject
    if (CLOSED.includes(String(status))) runVerb(write, { type: 'Ticket', verb: 'reopen', id: ticket.id, data: {} })
    return ticket.id
  }
  if (!inboxOf(write.engine).ticket) return null
  const subject = mail.subject.trim().slice(0, MOST_SUBJECT) || 'E-mail without a subject'
  const asking = askingOf(write, mail, sender)
  const requester = asking === null ? {} : { requester: asking.id }
  const data = { subject, description: mail.text.slice(0, MOST_DESCRIPTION), channel: 'Email', ...requester }
  return runVerb(write, { type: 'Ticket', verb: 'create', data }).entity.id
}

/**
 * The Contact to whom answers go: the one of `Reply-To`, if there is one. The sender of a message may be forged, so it must
 * not be shown as the requester of answers that go to another address.
 */
function askingOf(write: Write, { replyTo, fromName }: KeptMail, sender: Found | null): Found | null {
  const address = replyTo === null ? null : addressOf(replyTo)
  const isOurs = address !== null && inboxOf(write.engine).addresses.includes(address.toLowerCase())
  return address === null || isOurs ? sender : senderOf(write, address, fromName, false)
}

/** A message that was refused elsewhere has failed. */
function bounce(write: Write, { messageId, reason }: { readonly messageId: string; readonly reason: string }): void {
  const sent = messageWith(write, messageId)
  const { status, direction } = sent ? (JSON.parse(sent.data) as JsonObject) : {}
  if (!sent || direction === 'In' || !['Queued', 'Sent', 'Delivered'].includes(String(status))) return
  runVerb(write, { type: 'Message', verb: 'fail', id: sent.id, data: { error: reason } })
}

/** The answer to `List-Unsubscribe`. */
function isUnsubscribe({ subject }: KeptMail): boolean {
  return subject.trim().toLowerCase() === 'unsubscribe'
}

function unsubscribe(write: Write, { id, data }: Found): void {
  if ((JSON.parse(data) as JsonObject).status === 'Unsubscribed') return
  runVerb(write, { type: 'Contact', verb: 'update', id, data: { status: 'Unsubscribed' } })
}

/** The Contact with an address. A new sender becomes one, unless it is a machine. */
function senderOf(write: Write, from: string, fromName: string, isAutomatic: boolean): Found | null {
  const known = contactWith(write, from)
  if (known !== null || isAutomatic) return known
  const name = fromName.trim().slice(0, MOST_SUBJECT) || from.split('@')[0]!
  return runVerb(write, { type: 'Contact', verb: 'create', data: { name, email: from } }).entity
}

function contactWith({ engine, sql }: Write, email: string): Found | null {
  const field = engine.fieldNumber('Contact', 'email')
  if (field === null) return null
  return entitiesWith(sql, field, email)[0] ?? entitiesSpelled(sql, field, email)[0] ?? null
}

function messageWith({ engine, sql }: Write, messageId: string): Found | null {
  const field = engine.fieldNumber('Message', 'messageId')
  return field === null ? null : (entitiesWith(sql, field, messageId)[0] ?? null)
}

function ticketOf(message: Found | null): string | null {
  const ticket = message ? (JSON.parse(message.data) as JsonObject).ticket : null
  return typeof ticket === 'string' ? ticket : null
}
