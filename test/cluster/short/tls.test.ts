import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../../packages/server/src/cluster/postgres/database.ts'
import { readAddress } from '../../../packages/server/src/cluster/postgres/hosts.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, startNode, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let postgres: TestPostgres

beforeAll(async () => {
  postgres = await startPostgres({ tls: true })
})
afterAll(() => postgres?.stop())

/** The cipher of a new connection, or the reason why there is none. */
async function connect(url: string): Promise<string> {
  const database = new Database(readAddress(url), 'test', 10_000)
  try {
    const [row] = await database.query('SELECT cipher FROM pg_stat_ssl WHERE pid = pg_backend_pid()')
    return String(row!.cipher)
  } catch (reason) {
    return (reason as Error).message
  } finally {
    await database.close()
  }
}

const urlOf = (options: string) => postgres.url.replace('?sslmode=require', options)

test.each([
  ['sslmode=require encrypts', () => '?sslmode=require', /^TLS_/],
  ['a server that takes encrypted connections only refuses others', () => '', /no encryption/],
  ['sslmode=verify-full refuses a certificate of an unknown issuer', () => '?sslmode=verify-full', /self-signed/],
  [
    'sslmode=verify-full takes a certificate of a known issuer',
    () => `?sslmode=verify-full&sslrootcert=${postgres.certificate}`,
    /^TLS_/,
  ],
])('%s', async (_, options, expected) => {
  expect(await connect(urlOf(options()))).toMatch(expected)
})

test('sslmode=verify-full refuses a certificate that is for another name', async () => {
  const url = urlOf(`?sslmode=verify-full&sslrootcert=${postgres.certificate}`).replace('127.0.0.1', 'localhost')

  expect(await connect(url)).toMatch(/does not match certificate/)
})

verifies('cluster.tls', 'nodes share a log over TLS', async () => {
  const url = urlOf(`?sslmode=verify-full&sslrootcert=${postgres.certificate}`)
  const nodes: TestNode[] = [await startNode(url, 'n1'), await startNode(url, 'n2')]

  const { other } = await createTenant(nodes, 'secure')
  const made = await ask(other.url, 'POST', '/~secure/Contact', { name: 'Ada' })
  const open = await postgres.query(
    `SELECT count(*) AS count FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
     WHERE application_name LIKE 'tildebase %' AND NOT ssl`,
  )

  await Promise.all(nodes.map((node) => node.stop()))
  expect(made.status).toBe(201)
  expect(Number(open[0]!.count)).toBe(0)
})
