import { concurrently } from './compare/process.ts'
import { type BenchServer, quantile, startServer } from './hosts/server.ts'

/** How long an agent's code takes, cold and warm, and what a neighbour feels of code that attacks. Run it with `node bench/do.ts [runs]`. */
const RUNS = Number(process.argv[2] ?? 500)
const ROUNDS = 3
const ALONE_MS = 5_000
const BESIDE_MS = 10_000
const THREE = `
  const contact = await $.Contact.create({ name: 'Ada' })
  await $.Contact.qualify(contact.$id)
  await $.Contact.count({ stage: 'Qualified' })`
/** Hostile code. Each runs until it is stopped. */
const ATTACKS = [
  'for (;;);',
  'const all = []; for (;;) all.push(new Uint8Array(1e6))',
  'for (;;) ((1n << 1040000n) - 1n).toString()',
  "/(a+)+$/.exec('a'.repeat(60) + 'b')",
  'for (;;) Promise.resolve().then(() => {})',
  'const deep = () => { try { deep() } catch { deep() } }; deep()',
  "let text = 'x'; for (;;) { text += text; if (text.length > 1e6) text = 'x' }",
]

const server = await startServer(0)
await server.ask('POST', '/~bench/Contact', { name: 'first' })
await server.ask('POST', '/~quiet/Contact', { name: 'first' })
console.log(`cold, the first code after a start: ${(await timed(() => run('1 + 1'))).toFixed(0)} ms`)
for (const [what, code] of [
  ['no operation', '1 + 1'],
  ['one read', 'await $.Contact.count()'],
  ['two writes and a read', THREE],
] as const) {
  const times: number[] = []
  const before = server.cpu()
  for (let i = 0; i < RUNS; i++) times.push(await timed(() => run(code)))
  const computed = (server.cpu() - before) / RUNS
  console.log(`warm, ${what}: ${spread(times)}, ${computed.toFixed(1)} ms of computing each`)
}
for (const side of [2, 8]) {
  for (const [what, code] of [
    ['no operation', '1 + 1'],
    ['two writes and a read', THREE],
  ] as const) {
    const took = await timed(() => concurrently(RUNS, side, () => run(code)))
    console.log(`${side} side by side, ${what}: ${Math.round((RUNS * 1_000) / took)} runs/s`)
  }
}
await neighbour(server)
await server.stop()

/** Another tenant's reads, alone and next to attacks, in turns: whatever else the machine does weighs on both. */
async function neighbour(server: BenchServer): Promise<void> {
  const alone: number[] = []
  const beside: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    alone.push(...(await reads(server, ALONE_MS)))
    let over = false
    const attackers = ATTACKS.map(async (code) => {
      while (!over) await run(code)
    })
    beside.push(...(await reads(server, BESIDE_MS)))
    over = true
    await Promise.all(attackers)
  }
  const ratio = (part: number) => (quantile(beside, part) / quantile(alone, part)).toFixed(1)
  console.log(`a neighbour's read, alone: ${spread(alone)}`)
  console.log(`a neighbour's read beside attacks: ${spread(beside)}`)
  console.log(`ratio: p50 ${ratio(0.5)}, p99 ${ratio(0.99)}`)
}

async function reads(server: BenchServer, ms: number): Promise<number[]> {
  const times: number[] = []
  for (const end = performance.now() + ms; performance.now() < end; ) {
    times.push(await timed(() => server.ask('GET', '/~quiet/Contact?limit=10')))
    await new Promise((done) => setTimeout(done, 5))
  }
  return times
}

async function run(code: string): Promise<void> {
  await server.ask('POST', '/~bench/do', { code })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function spread(times: readonly number[]): string {
  return `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms`
}
