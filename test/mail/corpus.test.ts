import { createHash } from 'node:crypto'
import { simpleParser } from 'mailparser'
import { expect, test } from 'vitest'
import { textOfHtml } from '../../packages/server/src/doors/mail/html-text.ts'
import { parseMail } from '../../packages/server/src/doors/mail/parse.ts'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { verifies } from '../verifies.ts'
import { corpus } from './corpus.ts'

const MESSAGES = corpus()
/** Where mailparser itself is wrong, or where the two read what is broken in different ways, with the reason. */
const DIFFER: { readonly [name: string]: string } = {
  'html only': 'mailparser adds the addresses of links and images',
  'two subjects': 'the first one counts here, the last one there',
}

/** The parts that both parsers know, in one form. */
interface Seen {
  readonly messageId: string | undefined
  readonly from: string | undefined
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string
  readonly files: readonly string[]
}

const words = (text: string) => text.replace(/\s+/g, ' ').trim()
/** Text has the line ends of the host that parsed it. */
const digest = (bytes: Uint8Array) =>
  createHash('sha256').update(Buffer.from(bytes).toString('latin1').replaceAll('\r\n', '\n').trimEnd()).digest('hex')

async function judged(raw: Buffer): Promise<Seen> {
  const mail = await simpleParser(raw, { skipTextToHtml: true, skipTextLinks: true })
  const to = [mail.to ?? []].flat().flatMap(({ value }) => value)
  return {
    messageId: mail.messageId,
    from: mail.from?.value[0]?.address,
    to: to.flatMap((one) => (one.group ? one.group.map(({ address }) => address!) : one.address ? [one.address] : [])),
    subject: words(mail.subject ?? ''),
    text: words(mail.text ?? ''),
    files: mail.attachments.map(({ filename, content }) => `${filename ?? 'file'} ${digest(content)}`),
  }
}

async function ours(raw: Buffer): Promise<Seen> {
  const mail = await parseMail(raw, systemSeal.hasher('sha256'))
  return {
    messageId: mail.messageId,
    from: mail.from ?? undefined,
    to: mail.to,
    subject: words(mail.subject),
    text: words(mail.text),
    files: mail.attachments.map(({ name, bytes }) => `${name} ${digest(bytes)}`),
  }
}

verifies(
  'mail.parse',
  'messages of every shape are read as mailparser reads them',
  async () => {
    expect(MESSAGES.length).toBeGreaterThanOrEqual(300)
    const different: object[] = []
    for (const { name, raw } of MESSAGES) {
      if (DIFFER[name]) continue
      const [own, judge] = [await ours(raw), await judged(raw)]
      // Of a message that was cut off, the parts that are whole count.
      const whole = name.startsWith('cut') ? { files: [] } : {}
      if (JSON.stringify({ ...own, ...whole }) !== JSON.stringify({ ...judge, ...whole }))
        different.push({ name, own, judge })
    }
    expect(different).toEqual([])
  },
  60_000,
)

test('any bytes are a message', async () => {
  let state = 1
  const byte = () => {
    state = (state * 48_271) % 2_147_483_647
    return state & 255
  }
  for (let i = 0; i < 300; i++) {
    const { raw } = MESSAGES[i % MESSAGES.length]!
    const bent = Buffer.from(raw)
    for (let n = 0; n < 10; n++) bent[(byte() * 256 + byte()) % bent.length] = byte()
    const mail = await parseMail(bent, systemSeal.hasher('sha256'))
    expect(mail.messageId).toMatch(/^<[^<>\s]+>$/)
    expect(mail.subject + mail.fromName + mail.from).not.toMatch(/\p{Cc}/u)
  }
})

test('the text of a page is found in one walk, whatever the page is', () => {
  expect(textOfHtml('<p>a&amp;b<br>c</p><script>x</script><style>y')).toBe('a&b\nc')
  for (const piece of ['<script>', '<', '<!--', '<a b="', '&#']) {
    expect(textOfHtml(piece.repeat(200_000)).length).toBeLessThanOrEqual(piece.length * 200_000)
  }
})
