import { fileName, mediaType, Problem } from '@tildebase/nouns'
import type { Hasher, IncomingFile, IncomingMail } from '@tildebase/tenant/ports'
import PostalMime, { type Address, type Attachment, type Email } from 'postal-mime'
import { bounceIn, isBounce } from './bounce.ts'
import { textOfHtml } from './html-text.ts'

/** Received lines of a message that goes in circles. */
const MOST_HOPS = 50
const MOST_REFERENCES = 100
const MOST_FILES = 200
const MOST_ID = 998

/** Takes a raw message apart. Any bytes are a message: what is not well-formed is read as far as it can be. */
export async function parseMail(raw: Uint8Array, hasher: Hasher): Promise<IncomingMail> {
  const email = await emailIn(raw)
  const from = mailboxesOf(email.from ?? email.sender)[0]
  const bounce = isBounce(email) ? bounceIn(email) : null
  return {
    messageId: idsIn(email.messageId)[0] ?? ownId(raw, hasher),
    from: from?.address ?? null,
    fromName: from?.name ?? '',
    to: addressesOf(email.to),
    cc: addressesOf(email.cc),
    replyTo: addressesOf(email.replyTo)[0] ?? null,
    subject: plain(email.subject ?? ''),
    text: textOf(email),
    html: email.html ? wellFormed(email.html) : null,
    sentAt: timeOf(email.date),
    references: referencesOf(email),
    isAutomatic: isBounce(email) || isAutomatic(email),
    bounced: bounce,
    attachments: email.attachments.slice(0, MOST_FILES).map(fileOf),
  }
}

/** Headers and nesting are bounded by the parser. */
async function emailIn(raw: Uint8Array): Promise<Email> {
  try {
    return await PostalMime.parse(raw, { attachmentEncoding: 'arraybuffer', forceRfc822Attachments: true })
  } catch (reason) {
    const message = `The message cannot be read: ${(reason as Error).message.slice(0, 200)}`
    throw new Problem('validation_error', message, { type: 'Message' })
  }
}

/** The value of a header. */
function header({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? ''
}

/** An answer of a machine, by what it says of itself (RFC 3834) or by what such programs add. */
function isAutomatic(email: Email): boolean {
  const submitted = header(email, 'auto-submitted').trim().toLowerCase()
  if (submitted !== '' && !submitted.startsWith('no')) return true
  if (/^\s*(?:bulk|junk|auto_reply)\b/i.test(header(email, 'precedence'))) return true
  if (header(email, 'x-autoreply') !== '' || header(email, 'x-autorespond') !== '') return true
  return email.headers.filter(({ key }) => key === 'received').length > MOST_HOPS
}

/** The ids of the messages that it answers, the nearest first. */
function referencesOf({ inReplyTo, references }: Email): string[] {
  const all = [...idsIn(inReplyTo), ...idsIn(references).reverse()]
  return [...new Set(all)].slice(0, MOST_REFERENCES)
}

/** The ids in a header: `<a@b> <c@d>`. */
function idsIn(text: string | undefined): string[] {
  const found = text?.match(/<[^<>\s]{1,996}>/g) ?? []
  if (found.length > 0 || !text) return found
  const bare = /[^\s<>]{1,996}/.exec(text)?.[0]
  return bare ? [`<${bare}>`.slice(0, MOST_ID)] : []
}

/** A message without an id has one that follows from its bytes: the same message is known again. */
function ownId(raw: Uint8Array, hasher: Hasher): string {
  hasher.update(raw)
  const hex = Array.from(hasher.digest(), (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `<${hex}@no-message-id.invalid>`
}

/** Names and addresses, groups included. */
function mailboxesOf(given: Address | readonly Address[] | undefined): { name: string; address: string }[] {
  const list = given === undefined ? [] : Array.isArray(given) ? given : [given as Address]
  return list.flatMap((one: Address) =>
    one.group
      ? mailboxesOf(one.group)
      : one.address
        ? [{ name: plain(one.name ?? ''), address: plain(one.address).replace(/\s/g, '') }]
        : [],
  )
}

function addressesOf(given: Address | readonly Address[] | string | undefined): string[] {
  return typeof given === 'string' ? [] : mailboxesOf(given).map(({ address }) => address)
}

/** The text, or that of the HTML where there is no other. */
function textOf({ text, html }: Email): string {
  const plainText = wellFormed(text ?? '').trimEnd()
  return plainText !== '' || !html ? plainText : wellFormed(textOfHtml(html))
}

function fileOf({ filename, mimeType, content }: Attachment): IncomingFile {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content as ArrayBuffer)
  return { name: fileName(filename ?? undefined), type: mediaType(mimeType), bytes }
}

function timeOf(date: string | undefined): number | null {
  const at = date === undefined ? Number.NaN : Date.parse(date)
  return Number.isFinite(at) && at > 0 ? at : null
}

/** One line of text. */
function plain(text: string): string {
  return wellFormed(text)
    .replace(/[\p{Cc}]+/gu, ' ')
    .trim()
}

/** A text that can be stored: without halves of surrogate pairs and without NUL. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll('\0', '')
}
