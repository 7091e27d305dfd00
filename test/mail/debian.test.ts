import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { ask, type Server, startServer } from '../faults/server.ts'
import { verifies } from '../verifies.ts'
import { type MailServers, missingServers, startServers } from './debian.ts'

const [DESK, ADA] = ['desk@acme.example', 'ada@acme.example']
const PASSWORD = 'pass-1234567'
const reason = missingServers()

describe.skipIf(reason !== null)(`Postfix and Dovecot of Debian${reason === null ? '' : `: ${reason}`}`, () => {
  let servers: MailServers
  let server: Server
  const data = mkdtempSync(join(tmpdir(), 'tildebase-debian-'))

  beforeAll(async () => {
    const accounts = [DESK, ADA].map((address) => ({ address, password: PASSWORD }))
    servers = await startServers(accounts, 'refused.example')
    const url = (scheme: string, port: number) =>
      `${scheme}://${encodeURIComponent(DESK)}:${PASSWORD}@localhost:${port}`
    // No setting weakens TLS: the certificate of the servers is known to the process.
    server = await startServer(data, {
      NODE_EXTRA_CA_CERTS: servers.authority,
      TILDE_SMTP_URL: url('smtp', servers.smtp),
      TILDE_SMTP_FROM: DESK,
      TILDE_IMAP_URL: url('imaps', servers.imap),
      TILDE_IMAP_INTERVAL: '500ms',
    })
    await demand('PUT', '/~desk/inbox', { addresses: [DESK], ticket: true })
  }, 300_000)

  afterAll(async () => {
    await server?.kill()
    servers?.stop()
    rmSync(data, { recursive: true, force: true })
  })

  const demand = async (method: string, path: string, body?: unknown): Promise<any> => {
    const reply = await ask(server.url, method, path, body)
    if (reply === null || reply.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`)
    return reply.body
  }
  const send = async (fields: object): Promise<string> => {
    const { $id } = await demand('POST', '/~desk/Message', { channel: 'Email', ...fields })
    await demand('POST', `/~desk/Message/${$id}/send`, {})
    return $id
  }
  const message = (id: string) => demand('GET', `/~desk/Message/${id}`)
  const list = async (type: string, filter: object = {}) =>
    (await demand('GET', `/~desk/${type}?filter=${encodeURIComponent(JSON.stringify(filter))}`)).results
  const soon = { timeout: 60_000, interval: 200 }

  verifies(
    'mail.debian',
    'a message leaves by STARTTLS with a password, and one that bounces later fails',
    async () => {
      const [sent, refused] = await Promise.all([
        send({ to: [ADA], subject: 'Grüße', body: 'Hello **Ada**' }),
        send({ to: ['absent@refused.example'], subject: 'Lost', body: 'Hello' }),
      ])

      await expect.poll(async () => (await message(sent)).status, soon).toBe('Delivered')
      await expect.poll(() => servers.mailbox(ADA), soon).toHaveLength(1)
      // Postfix accepted it, and reported the refusal to the inbox.
      await expect.poll(async () => (await message(refused)).status, soon).toBe('Failed')
      expect((await message(refused)).error).toContain('No such user')
      expect(await list('Ticket')).toEqual([])
      expect(await list('Contact')).toEqual([])
    },
    120_000,
  )

  verifies(
    'mail.debian',
    'a question from a real mailbox becomes a ticket, and its answer arrives in that mailbox',
    async () => {
      // A tenant of its own with the mailbox of a customer.
      await demand('PUT', '/~customer/inbox', { addresses: [ADA] })
      const { $id } = await demand('POST', '/~customer/Message', {
        channel: 'Email',
        from: ADA,
        to: [DESK],
        subject: 'Das Dach ist undicht',
        body: 'It leaks.',
      })
      await demand('POST', `/~customer/Message/${$id}/send`, {})
      await expect.poll(() => list('Ticket'), soon).toMatchObject([{ subject: 'Das Dach ist undicht' }])
      const [ticket] = await list('Ticket')

      await demand('POST', `/~desk/Ticket/${ticket.$id}/reply`, { body: 'We come.' })

      const [reply] = await list('Message', { direction: 'Out', ticket: ticket.$id })
      await expect.poll(async () => (await message(reply.$id)).status, soon).toBe('Delivered')
      expect(await list('Contact')).toMatchObject([{ email: ADA }])
      const answered = () => servers.mailbox(ADA).find((raw) => raw.includes('We come.'))
      await expect.poll(answered, soon).toBeDefined()
      expect(answered()).toContain(`In-Reply-To: ${(await demand('GET', `/~customer/Message/${$id}`)).messageId}`)
    },
    120_000,
  )

  verifies(
    'mail.tls',
    'nothing is sent to a server whose certificate is not trusted',
    async () => {
      await server.kill()
      server = await startServer(data, {
        TILDE_SMTP_URL: `smtp://${encodeURIComponent(DESK)}:${PASSWORD}@localhost:${servers.smtp}`,
        TILDE_SMTP_FROM: DESK,
        TILDE_WEBHOOK_RETRIES: '100ms',
      })

      const id = await send({ to: [ADA], subject: 'Secret', body: 'Hello' })

      await expect.poll(async () => (await message(id)).status, soon).toBe('Failed')
      expect((await message(id)).error).toMatch(/certificate/i)
    },
    120_000,
  )
})
