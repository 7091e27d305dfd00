import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { ROOT } from '../host.ts'
import { COMMAND } from '../prepare/command.ts'
import { Receiver } from '../receiver.ts'
import { verifies } from '../verifies.ts'

const ROUNDS = process.env.TILDE_RUNS === undefined ? 3 : 50

interface Server {
  readonly url: string
  readonly process: ChildProcess
}

/** A server in its own process, which can be killed. */
async function serve(data: string): Promise<Server> {
  const program = spawn(process.execPath, [COMMAND, 'serve', '--port', '0', '--data', data], {
    env: {
      ...process.env,
      TILDE_ROOT_KEY: ROOT,
      TILDE_WEBHOOKS_INSECURE: '1',
      TILDE_WEBHOOK_RETRIES: '50ms,50ms,50ms,50ms,50ms',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await new Promise<string>((done, failed) => {
    program.once('exit', () => failed(new Error('The server ended before it was ready.')))
    let text = ''
    program.stdout!.on('data', (chunk) => {
      text += chunk
      const found = /listens on (\S+)/.exec(text)?.[1]
      if (found) done(found)
    })
  })
  return { url, process: program }
}

async function kill(server: Server): Promise<void> {
  const ended = new Promise((done) => server.process.once('exit', done))
  server.process.kill('SIGKILL')
  await ended
}

const post = (server: Server, path: string, body: object) =>
  fetch(`${server.url}/~acme${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

verifies(
  ['outbox.transaction', 'outbox.never', 'outbox.atLeastOnce'],
  'what was acknowledged is delivered, though the server is killed between the answer and the delivery',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-crash-'))
    const receiver = await Receiver.start()
    const acknowledged: string[] = []
    let server = await serve(data)
    await post(server, '/webhooks', { url: receiver.url, events: ['Contact.created'] })

    for (let round = 0; round < ROUNDS; round++) {
      // A receiver that answers late makes sure that deliveries are in progress when the server dies.
      receiver.answer((_, response) => void setTimeout(() => response.writeHead(200).end(), 30))
      const writes = Array.from({ length: 20 }, async (_, i) => {
        const response = await post(server, '/Contact', { name: `${round}.${i}` }).catch(() => null)
        if (response?.status === 201) acknowledged.push((await response.json()).$id)
      })
      await writes[round % 20]
      await kill(server)
      await Promise.all(writes)
      server = await serve(data)
    }
    receiver.answer(200)
    const delivered = () => new Set(receiver.requests.map(({ body }) => body.data.$id))
    for (const end = Date.now() + 40_000; Date.now() < end; await new Promise((done) => setTimeout(done, 50))) {
      if (acknowledged.every((id) => delivered().has(id))) break
    }
    await kill(server)
    await receiver.stop()
    rmSync(data, { recursive: true, force: true })

    expect(acknowledged.length).toBeGreaterThanOrEqual(ROUNDS)
    expect(acknowledged.filter((id) => !delivered().has(id))).toEqual([])
  },
)
