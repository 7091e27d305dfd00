import { invalid, isPlainObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { demandArea, type Grant, OPERATOR } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { addressOf } from './address.ts'

const ID = 'mailInbox_1'
const MOST_ADDRESSES = 100

/** The addresses that a tenant receives e-mail at and sends it from. */
export interface Inbox {
  readonly addresses: readonly string[]
  /** Whether a message that begins a thread opens a Ticket. */
  readonly ticket: boolean
}

export function inboxOf({ sql }: Engine): Inbox {
  const current = currentOf(sql, 'MailInbox', ID)
  const { addresses = [], ticket = false } = current ? (JSON.parse(current.data) as Partial<Inbox>) : {}
  return { addresses, ticket }
}

/** Takes the addresses of the inbox at the mailbox of the service, as far as no other tenant has them. */
export function claimInbox(engine: Engine): void {
  const claim = engine.ports.mail?.claim
  const { addresses } = claim ? inboxOf(engine) : { addresses: [] }
  // A message that comes before they are taken waits in the mailbox, or in the tenant that has them.
  if (addresses.length > 0) claim?.(engine.slug, addresses).catch(() => {})
}

/** Takes the addresses of an inbox that is about to be set. Refuses those of another tenant. */
export async function takeAddresses(engine: Engine, grant: Grant, body: unknown): Promise<void> {
  demandArea(grant, 'admin', 'platform')
  const { addresses } = readInbox(body)
  demandAddresses(engine, grant, addresses)
  const taken = (await engine.ports.mail?.claim?.(engine.slug, addresses)) ?? []
  if (taken.length > 0) {
    throw new Problem('conflict', `Another tenant receives at ${taken.join(', ')}.`, { field: 'addresses' })
  }
}

/** The settings of the inbox, for an administrator. */
export function shownInbox(engine: Engine, grant: Grant): Inbox {
  demandArea(grant, 'admin', 'platform')
  return inboxOf(engine)
}

/** Sets the addresses, and whether a new thread opens a Ticket. */
export function putInbox(write: Write, body: unknown): Inbox {
  const { engine, grant, sql } = write
  demandArea(grant, 'admin', 'platform')
  const data = { ...readInbox(body) }
  demandAddresses(engine, grant, data.addresses)
  if (currentOf(sql, 'MailInbox', ID)) applyVerb(write, { type: 'MailInbox', verb: 'update', id: ID, data })
  else applyVerb(write, { type: 'MailInbox', verb: 'create', data: { $id: ID, ...data }, keepId: true })
  return inboxOf(engine)
}

/** Refuses the addresses of the service to all but the operator, unless the tenant has them: links that open accounts come there. */
function demandAddresses(engine: Engine, grant: Grant, addresses: readonly string[]): void {
  if (grant.actor === OPERATOR.actor) return
  const known = inboxOf(engine).addresses
  const own = addresses.filter((one) => engine.ports.mail?.own.includes(one) && !known.includes(one))
  if (own.length === 0) return
  throw new Problem('forbidden', `${own.join(', ')} is an address of the service. Only the operator can set it.`, {
    field: 'addresses',
  })
}

function readInbox(body: unknown): Inbox {
  const { addresses, ticket = false, ...rest } = isPlainObject(body) ? body : {}
  const isList = Array.isArray(addresses) && addresses.length <= MOST_ADDRESSES
  const issues = [
    ...Object.keys(rest).map((field) => ({ field, message: 'is unknown; the inbox has addresses and ticket' })),
    ...(isList
      ? []
      : [{ field: 'addresses', message: `must be a list of at most ${MOST_ADDRESSES} e-mail addresses` }]),
    ...(typeof ticket === 'boolean' ? [] : [{ field: 'ticket', message: 'must be true or false' }]),
    ...(isList ? addresses : []).flatMap((one, i) =>
      typeof one === 'string' && addressOf(one) === one
        ? []
        : [{ field: `addresses.${i}`, message: 'is not an e-mail address' }],
    ),
  ]
  if (issues.length > 0) throw invalid('Inbox', issues)
  return { addresses: (addresses as string[]).map((one) => one.toLowerCase()), ticket: ticket as boolean }
}
