import { isoOf, type JsonObject, Problem, type Verb } from '@tildebase/nouns'
import { WEBHOOK_DEFAULTS } from '../../engine/options.ts'
import type { Job } from '../../engine/scheduler.ts'
import { grantFor } from '../../grant/grant.ts'
import type { MailOutcome, OutgoingMail } from '../../ports.ts'
import { presentOf } from '../../store/entities.ts'
import { dropMail, dueMails, type MailRow, nextMail, queueMail } from '../../store/mail/mails.ts'
import { dueNotices, duePersons, type NoticeRow, nextNotice, settleNotice } from '../../store/mail/notices.ts'
import type { Transactor } from '../../write/group-commit.ts'
import { HOOKS_PENDING } from '../../write/stored-hooks.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { runNow } from '../scripts/run-write.ts'
import { composed } from './compose.ts'
import { letterMail, noticeMail } from './letters.ts'
import { type Transport, transportOf } from './transport.ts'

/** E-mails in progress at once, per tenant. */
const MOST_IN_FLIGHT = 32
const MOST_NOTICES = 1_000

/** Sends what is queued by e-mail: messages, letters of the service, and notices. */
export function mailJob(transactor: Transactor): Job {
  const mails = new Mails(transactor)
  return { due: () => mails.due(), run: () => mails.run() }
}

/** Something to send: a row of the queue, or all that is due for a person. */
type Item = { readonly row: MailRow } | { readonly notices: readonly NoticeRow[] }

/** What came of it; null when there was nothing to send any more. */
interface Sent {
  readonly key: string
  readonly item: Item
  readonly outcome: MailOutcome | null
}

class Mails {
  readonly #transactor: Transactor
  /** The ids of rows, and of the persons whose notices are sent. */
  readonly #inFlight = new Set<string>()
  /** Sent, and not written down yet. */
  #sent: Sent[] = []

  constructor(transactor: Transactor) {
    this.#transactor = transactor
  }

  due(): number | null {
    const { engine } = this.#transactor
    if (!engine.ports.mail || this.#inFlight.size >= MOST_IN_FLIGHT) return null
    const dues = [nextMail(engine.sql, this.#inFlight), nextNotice(engine.sql, this.#inFlight)]
    const first = dues.reduce((one, other) => (one === null || (other !== null && other < one) ? other : one), null)
    return first !== null && transportOf(engine) !== null ? first : null
  }

  run(): void {
    const { engine } = this.#transactor
    const { sql, ports, scheduler } = engine
    const transport = transportOf(engine)
    if (transport === null || scheduler.isStill) return
    const now = ports.clock.now()
    const room = () => MOST_IN_FLIGHT - this.#inFlight.size
    for (const row of dueMails(sql, now, this.#inFlight, room())) this.#start(row.id, { row }, transport)
    for (const user of duePersons(sql, now, this.#inFlight, room())) {
      this.#start(user, { notices: dueNotices(sql, user, now, MOST_NOTICES) }, transport)
    }
  }

  #start(key: string, item: Item, transport: Transport): void {
    this.#inFlight.add(key)
    this.#transactor.engine.scheduler.track(this.#deliver(key, item, transport))
  }

  async #deliver(key: string, item: Item, transport: Transport): Promise<void> {
    const { options, slug } = this.#transactor.engine
    let outcome: MailOutcome | null
    try {
      const mail = this.#mailOf(item, transport)
      outcome = mail && (await transport.mail.send(mail, transport.server))
    } catch (reason) {
      if (reason instanceof Problem && reason.code === 'validation_error') {
        outcome = { error: reason.message, isFinal: true }
      } else {
        options.log?.('error', `An e-mail of ${slug} could not be composed`, { reason: String(reason) })
        outcome = { error: 'The service could not compose this e-mail.', isFinal: false }
      }
    }
    this.#sent.push({ key, item, outcome })
    // What is sent at about the same time is written down in one commit.
    if (this.#sent.length === 1) await this.#writeDown()
  }

  #mailOf(item: Item, transport: Transport): OutgoingMail | null {
    const { engine } = this.#transactor
    if ('notices' in item) return noticeMail(engine, item.notices, transport)
    const { id, content } = item.row
    if (content !== null) return letterMail(engine, id, content, transport)
    const message = presentOf(engine.sql, 'Message', id)
    const data = message ? (JSON.parse(message.data) as JsonObject) : null
    // Deleted, or delivered by other means: nothing is sent.
    return data?.status === 'Queued' ? composed(engine, id, data, transport) : null
  }

  async #writeDown(): Promise<void> {
    const { engine } = this.#transactor
    const { soon = queueMicrotask } = engine.ports
    await new Promise<void>((go) => soon(go))
    const sent = this.#sent
    this.#sent = []
    try {
      // A closed file takes nothing: what was sent is sent again, with the same Message-ID.
      if (!engine.scheduler.isClosed) await this.#settleAll(sent)
    } finally {
      for (const { key } of sent) this.#inFlight.delete(key)
      const due = engine.scheduler.isClosed || engine.scheduler.isResting ? null : this.due()
      if (due !== null) engine.ports.alarm.wakeAt(due)
    }
  }

  async #settleAll(sent: readonly Sent[]): Promise<void> {
    const { options, slug } = this.#transactor.engine
    await runNow(this.#transactor, grantFor('mail'), { ignoresQuota: true }, (write) => {
      for (const one of sent) {
        try {
          write.attempt(() => settle(write, one))
        } catch (reason) {
          if (!(reason instanceof Problem) || reason === HOOKS_PENDING) throw reason
          // A hook refuses what has happened: the message stays as it is, and is not sent again.
          options.log?.('error', `An e-mail of ${slug} could not be settled`, { reason: reason.message })
          if ('row' in one.item) dropMail(write.sql, one.item.row.id)
        }
      }
    })
  }
}

/** Writes down what came of an e-mail, together with its place in the queue. */
function settle(write: Write, { item, outcome }: Sent): void {
  const { retries } = write.engine.options.webhooks ?? WEBHOOK_DEFAULTS
  const now = write.context.clock.now()
  const again = (failures: number) => {
    const wait = outcome && 'error' in outcome && !outcome.isFinal ? retries[failures] : undefined
    if (wait !== undefined) write.wakeAt(now + wait)
    return wait === undefined ? null : now + wait
  }
  if ('notices' in item) {
    for (const { n, failures } of item.notices) settleNotice(write.sql, n, again(failures), failures + 1)
    return
  }
  const { row } = item
  const due = again(row.failures)
  if (due !== null) {
    queueMail(write.sql, { ...row, failures: row.failures + 1, due })
    return
  }
  dropMail(write.sql, row.id)
  if (outcome !== null && row.content === null) settleMessage(write, row.id, outcome, now)
}

function settleMessage(write: Write, id: string, outcome: MailOutcome, now: number): void {
  // Deleted, or delivered by other means meanwhile: it stays so.
  const { status } = JSON.parse(presentOf(write.sql, 'Message', id)?.data ?? '{}') as JsonObject
  if (status !== 'Queued') return
  const isSent = !('error' in outcome)
  const internalVerb = isSent ? DELIVER : FAIL
  const serviceFields: JsonObject = isSent
    ? { status: 'Delivered', sentAt: isoOf(now), ...(outcome.refused !== undefined && { error: outcome.refused }) }
    : { status: 'Failed', error: outcome.error }
  applyVerb(write, { type: 'Message', verb: internalVerb.name, id, internalVerb, serviceFields })
}

const DELIVER: Verb = { name: 'deliver', before: 'delivering', event: 'delivered' }
const FAIL: Verb = { name: 'fail', before: 'failing', event: 'failed' }
