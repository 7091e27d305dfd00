import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect } from 'vitest'
import { ROOT } from '../../host.ts'
import { verifies } from '../../verifies.ts'
import { ask, createTenant, type NodeProcess, spawnNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

let postgres: TestPostgres
let nodes: NodeProcess[] = []

beforeAll(async () => {
  postgres = await startPostgres()
  nodes = await Promise.all(['n1', 'n2'].map((name) => spawnNode(postgres.url, name)))
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
  await postgres?.stop()
})

verifies(
  'cluster.stop',
  'clients that keep connections to a node that stops get an answer to all they send',
  async () => {
    const { owner, other } = await createTenant(nodes, 'left')
    const agent = new Agent({ keepAlive: true })
    const answers: (number | string)[] = []
    let isOver = false
    const client = async (rest: number) => {
      while (!isOver) {
        const answer = await writeOnce(owner.url, '/~left/Contact', agent)
        answers.push(answer)
        // Some connections are idle for longer than others when the node stops.
        await new Promise((done) => setTimeout(done, answer === 'ECONNREFUSED' ? 20 : Math.random() * rest))
      }
    }
    const clients = Promise.all(Array.from({ length: 60 }, (_, i) => client(i * 16)))
    await expect.poll(() => answers.length, { timeout: 60_000 }).toBeGreaterThan(100)

    await (owner as NodeProcess).kill('SIGTERM')

    isOver = true
    await clients
    agent.destroy()
    // A connection that is refused was not sent anything. One may come while the node closes its socket, which reads no more.
    expect(new Set(answers.filter((answer) => answer !== 'ECONNREFUSED' && answer !== UNREAD))).toEqual(new Set([201]))
    expect(answers.filter((answer) => answer === UNREAD).length).toBeLessThan(4)
    const written = answers.filter((answer) => answer === 201).length
    expect((await ask(other.url, 'GET', '/~left/Contact?limit=1')).body.total).toBe(written)
  },
)

/** A new connection was reset. */
const UNREAD = 'unread'

/** The status of the answer to a write, or why there is none. */
function writeOnce(url: string, path: string, agent: Agent): Promise<number | string> {
  return new Promise((done) => {
    const headers = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' }
    const out = request(`${url}${path}`, { method: 'POST', agent, headers })
    out.once('response', (answer) => answer.resume().once('end', () => done(answer.statusCode!)))
    out.once('error', (reason: NodeJS.ErrnoException) =>
      done(reason.code === 'ECONNRESET' && !out.reusedSocket ? UNREAD : (reason.code ?? reason.message)),
    )
    out.end(JSON.stringify({ name: 'Ada' }))
  })
}
