import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'

/** How long an agent's code takes, cold and warm. Run it with `node bench/do.ts [runs]`. */
const RUNS = Number(process.argv[2] ?? 500)
const HEADERS = { authorization: 'Bearer bench', 'content-type': 'application/json' }
const THREE = `
  const contact = await $.Contact.create({ name: 'Ada' })
  await $.Contact.qualify(contact.$id)
  await $.Contact.count({ stage: 'Qualified' })`

const data = mkdtempSync(join(tmpdir(), 'tildebase-bench-'))
const host = await startHost(readSettings({ port: '0', workers: '0', data }, { TILDE_ROOT_KEY: 'bench' }))
await post('Contact', { name: 'first' })

console.log(`cold, the first code after a start: ${(await timed('1 + 1')).toFixed(0)} ms`)
console.log(`warm, no operation: ${await spread('1 + 1')}`)
console.log(`warm, one read: ${await spread('await $.Contact.count()')}`)
console.log(`warm, two writes and a read: ${await spread(THREE)}`)
for (const side of [2, 8]) {
  console.log(`${side} side by side, two writes and a read: ${await perSecond(THREE, side)} runs/s`)
  console.log(`${side} side by side, no operation: ${await perSecond('1 + 1', side)} runs/s`)
}
const beside = post('do', { code: 'for (;;);' })
console.log(`a write while code runs in an endless loop: ${await spreadOf(() => post('Contact', { name: 'Bob' }))}`)
await beside
await host.stop()
rmSync(data, { recursive: true, force: true })

async function post(path: string, body: object): Promise<void> {
  const response = await fetch(`${host.url}/~bench/${path}`, {
    method: 'POST',
    headers: HEADERS,
    body: JSON.stringify(body),
  })
  await response.arrayBuffer()
}

async function timed(code: string): Promise<number> {
  const began = performance.now()
  await post('do', { code })
  return performance.now() - began
}

function spread(code: string): Promise<string> {
  return spreadOf(() => post('do', { code }))
}

async function spreadOf(work: () => Promise<void>): Promise<string> {
  const times: number[] = []
  for (let i = 0; i < RUNS; i++) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  times.sort((a, b) => a - b)
  const at = (share: number) => times[Math.floor(times.length * share)]!.toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

async function perSecond(code: string, side: number): Promise<number> {
  const began = performance.now()
  let left = RUNS
  const line = async () => {
    while (left-- > 0) await post('do', { code })
  }
  await Promise.all(Array.from({ length: side }, line))
  return Math.round((RUNS * 1_000) / (performance.now() - began))
}
