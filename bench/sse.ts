import { connect } from 'node:net'
import { KEY, quantile, startServer } from './hosts/server.ts'

/**
 * How soon an event reaches all followers of the change stream, and what that costs the server.
 * Run it with `node bench/sse.ts [followers] [workers]`: the server in one process, writer and followers in this one.
 */
const FOLLOWERS = Number(process.argv[2] ?? 1_000)
const WORKERS = Number(process.argv[3] ?? 0)
const WARM = 20
const ROUNDS = 200
const BURSTS = 10
const BURST = 100
/** The pause between two events, so that all followers are idle. */
const PAUSE_MS = 25
const START = '\nid: '

const server = await startServer(WORKERS)
let begun = 0
let messages = 0
let arrivals: number[] = []
let wake = () => {}
/** One piece of memory for all followers: they look at what comes and keep nothing of it. */
const page = Buffer.alloc(262_144)

await post()
const empty = server.rss()
for (let i = 0; i < FOLLOWERS; i += 50) {
  await Promise.all(Array.from({ length: Math.min(50, FOLLOWERS - i) }, follow))
}
console.log(
  `${FOLLOWERS} followers, ${WORKERS} workers: ${(((server.rss() - empty) * 1_024) / FOLLOWERS).toFixed(0)} KiB each`,
)

for (let i = 0; i < WARM; i++) await round(1)
const answers: number[] = []
const all: number[] = []
const lasts: number[] = []
const before = server.cpu()
for (let i = 0; i < ROUNDS; i++) {
  answers.push(await round(1))
  all.push(...arrivals)
  lasts.push(arrivals.at(-1)!)
  await new Promise((done) => setTimeout(done, PAUSE_MS))
}
const cost = (server.cpu() - before) / ROUNDS
console.log(`one event, until the write is answered: ${told(answers)}`)
console.log(`one event, until a follower has it: ${told(all)}`)
console.log(`one event, until the last follower has it: ${told(lasts)}`)
console.log(
  `computing: ${cost.toFixed(1)} ms per event, ${((cost * 1_000) / FOLLOWERS).toFixed(1)} µs of it per follower`,
)

const bursts: number[] = []
const busy = server.cpu()
for (let i = 0; i < BURSTS; i++) {
  await round(BURST)
  bursts.push(arrivals.at(-1)!)
}
const each = ((server.cpu() - busy) * 1_000) / (BURSTS * BURST * FOLLOWERS)
const rate = (FOLLOWERS * BURST * 1_000) / quantile(bursts, 0.5)
console.log(`${BURST} events at once: ${rate.toFixed(0)} messages/s, ${each.toFixed(2)} µs of computing per message`)
await server.stop()
process.exit()

/** Writes events, waits until every follower has them, and gives how long the writes took. */
async function round(count: number): Promise<number> {
  messages = 0
  arrivals = []
  const done = new Promise<void>((resolve) => {
    wake = () => messages === FOLLOWERS * count && resolve()
  })
  begun = performance.now()
  await Promise.all(Array.from({ length: count }, post))
  const answered = performance.now() - begun
  await done
  return answered
}

/** Follows the stream on a bare socket: a client that parses would take longer than the server does. */
function follow(): Promise<void> {
  const { hostname, port } = new URL(server.url)
  return new Promise((ready) => {
    let rest = ''
    const take = (bytes: number) => {
      const at = performance.now() - begun
      const text = rest + page.toString('latin1', 0, bytes)
      // A message may begin in one piece and continue in the next.
      rest = text.slice(-(START.length - 1))
      if (text.includes('retry: ')) ready()
      for (let from = text.indexOf(START); from !== -1; from = text.indexOf(START, from + 1)) {
        messages++
        arrivals.push(at)
      }
      wake()
      return true
    }
    const socket = connect({ host: hostname, port: Number(port), onread: { buffer: page, callback: take } })
    socket.write(
      `GET /~bench/events?since=now HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\nauthorization: Bearer ${KEY}\r\n\r\n`,
    )
  })
}

async function post(): Promise<void> {
  const status = await server.ask('POST', '/~bench/Contact', { name: 'Ada', stage: 'Lead' })
  if (status !== 201) throw new Error(`A write was answered with ${status}.`)
}

function told(times: readonly number[]): string {
  return `median ${quantile(times, 0.5).toFixed(1)} ms, 99th percentile ${quantile(times, 0.99).toFixed(1)} ms`
}
