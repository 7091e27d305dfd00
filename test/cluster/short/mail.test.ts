import { afterAll, beforeAll, expect } from 'vitest'
import { openImap, type TestImap } from '../../mail/imap.ts'
import { verifies } from '../../verifies.ts'
import { ask, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

const TENANTS = Array.from({ length: 6 }, (_, i) => `desk-${i}`)
let postgres: TestPostgres
let imap: TestImap
let nodes: TestNode[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  imap = await openImap('service', 'pass-1234567')
  nodes = [
    ...(await startNodes(postgres.url, 2, {
      TILDE_IMAP_URL: `imap://service:pass-1234567@127.0.0.1:${imap.port}`,
      TILDE_IMAP_INTERVAL: '100ms',
      TILDE_WEBHOOKS_INSECURE: '1',
    })),
  ]
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await imap?.close()
  await postgres?.stop()
})

const raw = (id: string, to: string) =>
  `From: Ada <ada@example.org>\r\nTo: ${to}\r\nSubject: Roof\r\nMessage-ID: <${id}@example.org>\r\n\r\nIt leaks.\r\n`
const received = async (slug: string) => {
  const { body } = await ask(nodes[0]!.url, 'GET', `/~${slug}/Message?sort=$createdAt`)
  return body.results.map(({ messageId }: { messageId: string }) => messageId)
}
const logins = () => imap.commands.filter((command) => command.startsWith('LOGIN')).length

verifies(
  'mail.mailbox',
  'one node of a cluster reads the mailbox for the tenants of all, and another after it',
  async () => {
    for (const tenant of [...TENANTS, 'thief']) await ask(nodes[0]!.url, 'POST', '/operator/tenants', { tenant })
    for (const slug of TENANTS) {
      const addresses = [`${slug}@service.example`]
      expect((await ask(nodes[0]!.url, 'PUT', `/~${slug}/inbox`, { addresses })).status).toBe(200)
    }
    const owners = new Set<string>()
    for (const slug of TENANTS)
      owners.add((await ask(nodes[0]!.url, 'GET', `/operator/cluster?tenant=${slug}`)).body.tenant.owner)
    expect(owners.size).toBe(2)
    for (const { url } of nodes) {
      const stolen = await ask(url, 'PUT', '/~thief/inbox', {
        addresses: ['thief@service.example', 'desk-0@service.example'],
      })
      expect([stolen.status, stolen.body.error]).toEqual([409, 'conflict'])
    }

    imap.messages.push(...TENANTS.map((slug) => raw(`first-${slug}`, `${slug}@service.example`)))
    imap.messages.push(
      raw('thief', 'thief@service.example'),
      raw('both', 'desk-0@service.example, desk-5@service.example'),
    )
    await expect
      .poll(() => received('desk-5'), { timeout: 15_000 })
      .toEqual(['<first-desk-5@example.org>', '<both@example.org>'])
    expect(await received('desk-0')).toEqual(['<first-desk-0@example.org>', '<both@example.org>'])
    for (const slug of TENANTS.slice(1, 5)) expect(await received(slug)).toEqual([`<first-${slug}@example.org>`])
    expect((await ask(nodes[0]!.url, 'GET', '/~thief/Message')).body.results).toEqual([])

    await nodes.shift()!.stop()
    const before = logins()
    imap.messages.push(...TENANTS.map((slug) => raw(`second-${slug}`, `${slug}@service.example`)))
    for (const slug of TENANTS)
      await expect
        .poll(async () => (await received(slug)).at(-1), { timeout: 15_000 })
        .toBe(`<second-${slug}@example.org>`)
    expect(logins()).toBeGreaterThan(before)
    expect((await received('desk-0')).length).toBe(3)
  },
)
