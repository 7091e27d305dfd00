import type { JsonObject } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { OutgoingMail } from '../../ports.ts'
import { presentOf } from '../../store/entities.ts'
import { queueMail } from '../../store/mail/mails.ts'
import type { NoticeRow } from '../../store/mail/notices.ts'
import type { Write } from '../../write/write.ts'
import { addressOf } from './address.ts'
import { htmlOf } from './markdown.ts'
import { titleOf } from './notices.ts'
import { type Transport, transportOf } from './transport.ts'

/** What the service itself writes to a person. */
export interface Letter {
  readonly to: string
  readonly subject: string
  /** Markdown. */
  readonly text: string
}

const MOST_LISTED = 25

/** Queues a letter with the write that asks for it. False without a transport, or without an address. */
export function queueLetter(write: Write, letter: Letter): boolean {
  const { engine, sql, context } = write
  if (transportOf(engine) === null || addressOf(letter.to) === null) return false
  const due = context.clock.now()
  // It may hold a link that opens an account.
  const content = engine.ports.vault.encrypt(JSON.stringify(letter))
  queueMail(sql, { id: write.newId('letter'), content, failures: 0, due })
  write.wakeAt(due)
  return true
}

/** A queued letter as an e-mail; null when it cannot be read any more. */
export function letterMail(engine: Engine, id: string, content: string, { from }: Transport): OutgoingMail | null {
  const text = engine.ports.vault.decrypt(content)
  return text === null ? null : mailOf(engine, id, JSON.parse(text) as Letter, from)
}

/** The notices of a person as one e-mail; null when nothing of it is to be said any more. */
export function noticeMail(engine: Engine, rows: readonly NoticeRow[], { from }: Transport): OutgoingMail | null {
  const { user } = rows[0]!
  const { email } = JSON.parse(presentOf(engine.sql, 'User', user)?.data ?? '{}') as JsonObject
  const titles = rows.flatMap((row) => titleOf(engine, row) ?? [])
  if (titles.length === 0 || typeof email !== 'string' || addressOf(email) === null) return null
  const subject = titles.length === 1 ? titles[0]! : `${titles.length} notices of ${engine.slug}`
  const listed = titles.slice(0, MOST_LISTED).map((title) => `- ${title.replace(/[[\]()*`]/g, ' ')}`)
  const more = titles.length > MOST_LISTED ? `\n\nThere are ${titles.length - MOST_LISTED} more.` : ''
  const console = consoleOf(engine)
  const text = `${listed.join('\n')}${more}\n\n[Open the inbox](${console})\n\nYou choose in your account what is sent to you, and when.`
  const mail = mailOf(engine, `notice_${rows[0]!.n}_${rows.at(-1)!.n}`, { to: email, subject, text }, from)
  return { ...mail, unsubscribe: `<${console}>` }
}

function mailOf(engine: Engine, id: string, { to, subject, text }: Letter, from: string): OutgoingMail {
  const domain = addressOf(from)!.split('@')[1]
  return {
    messageId: `<${id}.${engine.slug}@${domain}>`,
    from,
    to: [to],
    cc: [],
    bcc: [],
    subject,
    text,
    html: htmlOf(text),
    isAutomatic: true,
    attachments: [],
  }
}

/** Where people work with the tenant in a browser. */
function consoleOf(engine: Engine): string {
  return `${new URL(engine.context).origin}/console#/~${engine.slug}`
}
