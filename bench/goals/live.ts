import { type BenchServer, quantile, startServer } from '../hosts/server.ts'
import { Followers } from '../live/followers.ts'
import { print } from './figure.ts'

const COUNT = Number(process.env.BENCH_FOLLOWERS ?? 10_000)
const ROUNDS = 100
const PAUSE_MS = 100
/** All followers come from one address, with one key. */
const LIMITS = Object.fromEntries(
  ['ADDRESS_SOCKETS', 'ADDRESS_REQUESTS', 'TENANT_POLLS', 'KEY_POLLS'].map((name) => [`TILDE_${name}`, '20000']),
)

/** One event to many followers of a tenant. */
export async function live(): Promise<void> {
  const server = await startServer(0, LIMITS)
  try {
    const followers = new Followers(server)
    await post(server)
    await followers.add(COUNT)
    const lasts: number[] = []
    let used = 0
    for (let round = -10; round < ROUNDS; round++) {
      const before = server.cpu()
      const { last } = await followers.round(1, () => post(server))
      if (round >= 0) lasts.push(last)
      if (round >= 0) used += server.cpu() - before
      await new Promise((done) => setTimeout(done, PAUSE_MS))
    }
    const each = ((used * 1_000) / ROUNDS / COUNT).toFixed(1)
    const more = `median ${quantile(lasts, 0.5).toFixed(0)} ms; ${each} µs of CPU time per follower`
    print(
      { text: `a write to the last of ${COUNT} followers, p99`, unit: 'ms', atMost: 100 },
      quantile(lasts, 0.99),
      more,
    )
    followers.close()
  } finally {
    await server.stop()
  }
}

async function post(server: BenchServer): Promise<void> {
  const status = await server.ask('POST', '/~bench/Contact', { name: 'Ada', stage: 'Lead' })
  if (status !== 201) throw new Error(`A write was answered with ${status}.`)
}
