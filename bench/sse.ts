import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'

/** How soon an event reaches everybody who follows the change stream. Run it with `node bench/sse.ts [followers]`. */
const KEY = 'bench'
const FOLLOWERS = Number(process.argv[2] ?? 1_000)
const ROUNDS = 100

const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const host = await startHost(readSettings({ port: '0', workers: '0', data }, { TILDE_ROOT_KEY: KEY }))
let received = 0
let wake: (() => void) | null = null
const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY })

await post()
const idle = process.memoryUsage().rss
for (let i = 0; i < FOLLOWERS; i += 50) await Promise.all(Array.from({ length: Math.min(50, FOLLOWERS - i) }, follow))
const memory = process.memoryUsage().rss - idle
await round(1)
const all: number[] = []
const answers: number[] = []
for (let i = 0; i < ROUNDS; i++) {
  const { answered, delivered } = await round(1)
  answers.push(answered)
  all.push(delivered)
}
console.log(
  `${FOLLOWERS} followers, server and followers in one process, ${kib(memory / FOLLOWERS)} KiB each, both sides`,
)
console.log(`one event, until the write is answered: median ${middle(answers)} ms`)
console.log(`one event, until the last follower has it: median ${middle(all)} ms`)
const burst = await round(100)
const frames = Math.round((FOLLOWERS * 100 * 1_000) / burst.delivered)
console.log(
  `a hundred events at once: ${burst.delivered.toFixed(0)} ms until the last follower has them all, ${frames} messages/s`,
)
agent.destroy()
await host.stop()
rmSync(data, { recursive: true, force: true })

/** Writes events and waits until every follower has them. */
async function round(count: number): Promise<{ answered: number; delivered: number }> {
  received = 0
  const began = performance.now()
  const done = new Promise<void>((resolve) => {
    wake = () => {
      if (received === FOLLOWERS * count) resolve()
    }
  })
  await Promise.all(Array.from({ length: count }, post))
  const answered = performance.now() - began
  await done
  return { answered, delivered: performance.now() - began }
}

function follow(): Promise<void> {
  return new Promise((ready) => {
    const headers = { accept: 'text/event-stream', authorization: `Bearer ${KEY}` }
    get(`${host.url}/~bench/events?since=now`, { agent, headers }, (response) => {
      response.on('error', () => {})
      response.on('data', (chunk: Buffer) => {
        ready()
        for (let at = chunk.indexOf('id: '); at !== -1; at = chunk.indexOf('\nid: ', at + 1)) received++
        wake?.()
      })
    }).on('error', () => {})
  })
}

async function post(): Promise<void> {
  const response = await fetch(`${host.url}/~bench/Contact`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: '{"name":"Ada","stage":"Lead"}',
  })
  if (!response.ok) throw new Error(await response.text())
  await response.arrayBuffer()
}

function middle(times: number[]): string {
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)]!.toFixed(1)
}

function kib(bytes: number): string {
  return (bytes / 1_024).toFixed(0)
}
