import type { AddressInfo } from 'node:net'
import { type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

/** A message as a mail server got it. */
interface Delivered {
  readonly from: string
  readonly to: readonly string[]
  readonly raw: string
  readonly mail: ParsedMail
}

/** A mail server on loopback that keeps what it gets. */
export interface TestSmtp {
  readonly url: string
  readonly port: number
  readonly delivered: Delivered[]
  /** Answers the next messages with this code instead of accepting them. */
  refuse(code: number, times?: number): void
  /** Waits until so many were accepted. */
  until(count: number): Promise<readonly Delivered[]>
  close(): Promise<void>
}

export async function openSmtp(options: object = {}): Promise<TestSmtp> {
  const delivered: Delivered[] = []
  let refusals: number[] = []
  const server = new SMTPServer({
    closeTimeout: 100,
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', async () => {
        const code = refusals.shift()
        if (code !== undefined) return done(Object.assign(new Error('Refused by the test'), { responseCode: code }))
        const raw = Buffer.concat(chunks)
        const { mailFrom, rcptTo } = session.envelope
        delivered.push({
          from: mailFrom ? mailFrom.address : '',
          to: rcptTo.map(({ address }) => address),
          raw: raw.toString('latin1'),
          mail: await simpleParser(raw),
        })
        done()
      })
    },
    ...options,
  })
  server.on('error', () => {})
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', () => ready()))
  const { port } = server.server.address() as AddressInfo
  return {
    url: `smtp://127.0.0.1:${port}`,
    port,
    delivered,
    refuse: (code, times = 1) => {
      refusals = Array.from({ length: times }, () => code)
    },
    async until(count) {
      for (let i = 0; delivered.length < count && i < 1_000; i++) await new Promise((done) => setTimeout(done, 10))
      return delivered
    },
    close: () => new Promise((done) => server.close(() => done())),
  }
}
