import { invalid, isPlainObject, type JsonObject } from '@tildebase/nouns'
import { currentOf, entitiesWith, presentOf, type Stored } from '../../store/entities.ts'
import { countMail, queueMail } from '../../store/mail/mails.ts'
import { runVerb } from '../../write/run-verb.ts'
import { applyVerb } from '../../write/verb.ts'
import type { RunResult, VerbRequest } from '../../write/verb-request.ts'
import type { SpecialVerb, Write } from '../../write/write.ts'
import { addressOf } from './address.ts'
import { addresseesOf, mailIssues, recipientsOf } from './compose.ts'
import { inboxOf } from './inbox.ts'
import { transportOf } from './transport.ts'

/** The verbs of Message and Ticket that lead to e-mail. */
export const mailVerbs: { readonly [name: string]: SpecialVerb } = { 'Message.send': send, 'Ticket.reply': reply }

const HOUR = 3_600_000
/** Messages that workflows and hooks send to one address in an hour: more are two machines that answer each other. */
const MOST_AUTOMATIC = 60

/** Queues a message in the transaction of its verb. Without a transport for its channel it stays queued, with a warning. */
function send(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const { engine, context } = write
    const isAutomatic = context.hops > 0
    const serviceFields = {
      messageId: newMessageId(write, request),
      direction: 'Out',
      error: null,
      ...(isAutomatic && { automatic: true }),
    }
    const queued = applyVerb(write, { ...request, serviceFields })
    const message = JSON.parse(queued.entity.data) as JsonObject
    const isMail = message.channel === 'Email'
    const issues = isMail ? mailIssues(engine, message) : []
    if (issues.length > 0) throw invalid('Message', issues)
    if (!isMail || transportOf(engine) === null) {
      const { channel = null } = message
      return { ...queued, warnings: [{ warning: 'not_configured', channel }] }
    }
    if (recipientsOf(engine, message).length === 0) {
      throw invalid('Message', [{ field: 'to', message: 'is required: an e-mail address, or a recipient who has one' }])
    }
    const now = context.clock.now()
    if (isAutomatic && isLoop(write, addresseesOf(engine, message), now)) return refusedAsLoop(write, queued)
    queueMail(engine.sql, { id: queued.entity.id, content: null, failures: 0, due: now })
    write.wakeAt(now)
    return queued
  })
}

/** Whether too much was sent automatically to one of these addresses. */
function isLoop({ sql }: Write, recipients: readonly string[], now: number): boolean {
  const hour = Math.floor(now / HOUR)
  return recipients.filter((one) => countMail(sql, addressOf(one)!.toLowerCase(), hour) > MOST_AUTOMATIC).length > 0
}

function refusedAsLoop(write: Write, { entity }: RunResult): RunResult {
  const error = `This is more than ${MOST_AUTOMATIC} automatic messages to one address in an hour: it may be a loop.`
  return applyVerb(write, { type: 'Message', verb: 'fail', id: entity.id, data: { error } })
}

/** The Message-ID of an e-mail: it follows from the id of the message, so that it is the same in every attempt. */
function newMessageId({ engine }: Write, { id }: VerbRequest): string {
  const domain = addressOf(transportOf(engine)?.from ?? '')?.split('@')[1] ?? 'tildebase.invalid'
  return `<${id}.${engine.slug}@${domain}>`
}

/** Sends an answer into the thread of a Ticket: to its requester, as an answer to the newest message that came in. */
function reply(write: Write, request: VerbRequest): RunResult {
  return write.attempt(() => {
    const given = isPlainObject(request.data) ? request.data : {}
    const { body } = given
    if (typeof body !== 'string' || body.trim() === '') {
      throw invalid('Ticket', [{ field: 'body', message: 'is required: the text of the answer' }])
    }
    const replied = applyVerb(write, request)
    const ticket = JSON.parse(replied.entity.data) as JsonObject
    const message = answerTo(write, replied.entity.id, ticket, given as JsonObject)
    const { knownContents } = request
    const { entity } = runVerb(write, { type: 'Message', verb: 'create', data: message, knownContents })
    const { warnings } = runVerb(write, { type: 'Message', verb: 'send', id: entity.id, data: {} })
    return { ...replied, entity: { ...replied.entity, extra: { message: entity.id } }, ...(warnings && { warnings }) }
  })
}

/**
 * The Message of an answer. It goes to the requester: others can write into a thread of which they know a Message-ID, also
 * in the name of the requester. In a Ticket without a requester it goes to the person who wrote last.
 */
function answerTo(write: Write, id: string, ticket: JsonObject, { body, attachments }: JsonObject): JsonObject {
  const { engine, sql } = write
  const newest = incomingIn(write, id)[0] ?? null
  const last = newest ? stateOf(newest) : {}
  const asked = Array.isArray(last.to) ? last.to.map((one) => addressOf(String(one))?.toLowerCase()) : []
  const { addresses } = inboxOf(engine)
  const from = addresses.find((one) => asked.includes(one)) ?? addresses[0]
  const subject = String(last.subject ?? ticket.subject ?? '').replace(/[\p{Cc}]+/gu, ' ')
  const { requester = null } = ticket
  const known = requester === null ? [last.replyTo, last.from] : [requesterOf(write, ticket)]
  const to = known.find((one) => typeof one === 'string' && addressOf(one) !== null)
  if (to === undefined) {
    throw invalid('Ticket', [{ field: 'requester', message: 'has no e-mail address to answer to' }])
  }
  const recipient =
    typeof ticket.requester === 'string' && currentOf(sql, 'Contact', ticket.requester)?.deleted === false
  return {
    channel: 'Email',
    body: body!,
    subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`,
    ticket: id,
    to: [to],
    ...(attachments !== undefined && { attachments }),
    ...(from !== undefined && { from }),
    ...(recipient && { recipient: ticket.requester! }),
    ...(newest && { inReplyTo: newest.id }),
  }
}

function requesterOf({ sql }: Write, { requester }: JsonObject) {
  const contact = typeof requester === 'string' ? presentOf(sql, 'Contact', requester) : undefined
  return contact && (JSON.parse(contact.data) as JsonObject).email
}

/** The messages of a Ticket that came in, the newest first. */
function incomingIn({ engine, sql }: Write, ticket: string): Pick<Stored, 'id' | 'data'>[] {
  const field = engine.fieldNumber('Message', 'ticket')
  const messages = field === null ? [] : entitiesWith(sql, field, ticket)
  return messages.filter((one) => stateOf(one).direction === 'In').sort((one, other) => (one.id < other.id ? 1 : -1))
}

function stateOf({ data }: Pick<Stored, 'data'>): JsonObject {
  return JSON.parse(data) as JsonObject
}
