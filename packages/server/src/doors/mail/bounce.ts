import type { Email } from 'postal-mime'

/** A message that could not be delivered, and why. */
interface Bounce {
  readonly messageId: string
  readonly reason: string
}

const MOST_REASON = 500

/** Whether a mail server wrote it about another message: a report (RFC 3464), or a notice of one without reports. */
export function isBounce(email: Email): boolean {
  const type = headerOf(email, 'content-type')
  if (/^multipart\/report\b/i.test(type.trim())) return /report-type\s*=\s*"?delivery-status/i.test(type)
  return headerOf(email, 'x-failed-recipients') !== ''
}

/** The message that a bounce is about; null when it is only late, or when the bounce does not name it. */
export function bounceIn(email: Email): Bounce | null {
  const report = partOf(email, 'message/delivery-status')
  if (/^Action:\s*(?:delayed|relayed|delivered|expanded)/im.test(report)) return null
  const original =
    partOf(email, 'message/rfc822') || partOf(email, 'text/rfc822-headers') || partOf(email, 'message/rfc822-headers')
  const found = /^Message-ID:\s*(<[^<>\s]{1,996}>)/im.exec(original || (email.text ?? ''))?.[1]
  const named = found ?? /<[^<>\s]{1,996}>/.exec(email.inReplyTo ?? email.references ?? '')?.[0]
  if (named === undefined) return null
  return { messageId: named, reason: reasonIn(report) ?? (firstLine(email.text ?? '') || 'It could not be delivered.') }
}

/** What the other server said: `550 5.1.1 No such user`. */
function reasonIn(report: string): string | null {
  const unfolded = report.replace(/\r?\n[ \t]+/g, ' ')
  const code = /^Diagnostic-Code:(?:[ \t]*[\w-]+[ \t]*;)?[ \t]*(\S.*)$/im.exec(unfolded)?.[1]
  const status = /^Status:\s*(.+)$/im.exec(unfolded)?.[1]
  const reason = code ?? (status && `Status ${status}`)
  return reason ? oneLine(reason) : null
}

function firstLine(text: string): string {
  return oneLine(text.split('\n').find((line) => line.trim() !== '') ?? '')
}

function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, MOST_REASON)
}

function partOf({ attachments }: Email, type: string): string {
  const part = attachments.find(({ mimeType }) => mimeType.toLowerCase() === type)
  if (!part) return ''
  return typeof part.content === 'string' ? part.content : new TextDecoder().decode(part.content as ArrayBuffer)
}

function headerOf({ headers }: Email, name: string): string {
  return headers.find(({ key }) => key === name)?.value ?? ''
}
