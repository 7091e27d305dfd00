import { quantile, startServer } from './hosts/server.ts'
import { Followers } from './live/followers.ts'

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

const server = await startServer(WORKERS)
const followers = new Followers(server)
await post()
const empty = server.rss()
await followers.add(FOLLOWERS)
console.log(
  `${FOLLOWERS} followers, ${WORKERS} workers: ${(((server.rss() - empty) * 1_024) / FOLLOWERS).toFixed(0)} KiB each`,
)

for (let i = 0; i < WARM; i++) await followers.round(1, post)
const answers: number[] = []
const all: number[] = []
const lasts: number[] = []
const before = server.cpu()
for (let i = 0; i < ROUNDS; i++) {
  const round = await followers.round(1, post)
  answers.push(round.answered)
  all.push(...round.all)
  lasts.push(round.last)
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
for (let i = 0; i < BURSTS; i++) bursts.push((await followers.round(BURST, post)).last)
const each = ((server.cpu() - busy) * 1_000) / (BURSTS * BURST * FOLLOWERS)
const rate = (FOLLOWERS * BURST * 1_000) / quantile(bursts, 0.5)
console.log(`${BURST} events at once: ${rate.toFixed(0)} messages/s, ${each.toFixed(2)} µs of computing per message`)
await server.stop()
process.exit()

async function post(): Promise<void> {
  const status = await server.ask('POST', '/~bench/Contact', { name: 'Ada', stage: 'Lead' })
  if (status !== 201) throw new Error(`A write was answered with ${status}.`)
}

function told(times: readonly number[]): string {
  return `median ${quantile(times, 0.5).toFixed(1)} ms, 99th percentile ${quantile(times, 0.99).toFixed(1)} ms`
}
