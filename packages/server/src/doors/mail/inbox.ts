import { Problem } from '@tildebase/nouns'
import type { TenantWriter } from '@tildebase/tenant'
import type { KeptMail } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody } from '../describe/description.ts'
import { ANY_OBJECT, FLAG, record, TEXT, whole } from '../describe/schema.ts'
import { bytesOf } from '../files/upload.ts'
import { createdReply, entityReply, json, type Reply } from '../reply.ts'
import { readRoute, writeRoute } from '../route.ts'
import { parseMail } from './parse.ts'

const INBOX = whole({ addresses: { type: 'array', items: TEXT }, ticket: FLAG })
const GIVEN = record('', { addresses: { type: 'array', items: TEXT }, ticket: FLAG }, ['addresses'])
const LARGEST = 26_214_400
/** Messages that are too large to be held like other bodies, at once in this thread. */
const MOST_LARGE = 4
const RAW =
  'From: Ada <ada@example.org>\r\nTo: desk@acme.example\r\nSubject: Hello\r\nMessage-ID: <1@example.org>\r\n\r\nHello'

/** E-mail that comes in. */
export const inboxRoutes: readonly Route[] = [
  readRoute('GET /inbox', {
    summary: 'Read the addresses of the inbox',
    needs: 'admin:platform',
    answers: { 200: answer(INBOX) },
    handle: ({ read }: Call): Reply => json(200, read.reactions.inbox()),
  }),
  writeRoute('PUT /inbox', {
    summary: 'Set the addresses that the tenant receives e-mail at',
    description:
      'Messages may be sent from these addresses. With `ticket`, a message that begins a thread opens a Ticket, and answers are added to it.',
    needs: 'admin:platform',
    body: jsonBody(GIVEN, { addresses: ['desk@acme.example'], ticket: true }, 'All addresses of the inbox.'),
    answers: { 200: answer(INBOX) },
    prepare: async (call: Call): Promise<Call> => {
      await call.read.reactions.takeAddresses(call.body)
      return call
    },
    handle: ({ body }: Call, write: TenantWriter): Reply => json(200, write.putInbox(body)),
  }),
  writeRoute('POST /inbox/email', {
    summary: 'Take an e-mail',
    description:
      'Keeps a raw message as a Message with its attachments, linked to its Contact, its thread and its Ticket. A message whose Message-ID is known changes nothing.',
    needs: 'write:Message',
    rawBody: true,
    body: {
      description: 'The message as it came, at most 25 MiB.',
      required: true,
      content: { 'message/rfc822': { schema: { ...TEXT, format: 'binary' }, example: RAW } },
    },
    answers: {
      201: answer(ANY_OBJECT, { description: 'The Message.', headers: ['ETag', 'Location'] }),
      200: answer(ANY_OBJECT, { description: 'The Message is known already.', headers: ['ETag'] }),
    },
    prepare: received,
    handle: take,
  }),
]

let large = 0

/** Reads and parses the message, and stores its attachments, before the commit. */
async function received(call: Call): Promise<Call> {
  const { read, request, tenant, query } = call
  read.demand(query.has('propose') ? 'propose' : 'write', read.noun('Message'))
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]!.trim().toLowerCase()
  if (type !== 'message/rfc822') {
    throw new Problem('unsupported_media_type', 'Send the raw message with the Content-Type message/rfc822.')
  }
  const raw = await rawOf(call)
  if (raw.length === 0) throw new Problem('invalid_body', 'The body is empty. Send the raw message.')
  const mail = await (tenant.files.parseMail(raw) ?? parseMail(raw, tenant.files.hasher('sha256')))
  const { kept, contents } = await tenant.files.receiveMail(mail)
  return { ...call, request: { ...request, body: raw }, prepared: kept, writes: { ...call.writes, contents } }
}

async function rawOf({ request }: Call): Promise<Uint8Array> {
  if (request.body instanceof Uint8Array || request.body === null) return joined([request.body ?? new Uint8Array()])
  if (large >= MOST_LARGE) {
    throw new Problem('busy', `${MOST_LARGE} large messages are being read. Try again.`, { retryAfter: 1 })
  }
  large++
  try {
    const chunks: Uint8Array[] = []
    let length = 0
    for await (const chunk of bytesOf(request.body)) {
      length += chunk.length
      demandLength(length)
      chunks.push(chunk)
    }
    return joined(chunks)
  } finally {
    large--
  }
}

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0)
  demandLength(length)
  if (chunks.length === 1) return chunks[0]!
  const all = new Uint8Array(length)
  let at = 0
  for (const chunk of chunks) {
    all.set(chunk, at)
    at += chunk.length
  }
  return all
}

function demandLength(length: number): void {
  if (length > LARGEST)
    throw new Problem('too_large', `A message may have at most ${LARGEST} bytes.`, { limit: LARGEST })
}

function take({ prepared, context }: Call, write: TenantWriter): Reply {
  if (prepared === undefined) {
    throw new Problem('invalid_operation', 'A raw message has a request of its own: it cannot be part of a batch.')
  }
  const { message, isRepeated } = write.receiveMail(prepared as KeptMail)
  const result = { entity: message, event: null }
  return isRepeated ? entityReply(result, context) : createdReply(result, context)
}
