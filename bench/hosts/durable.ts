// What requests cost in a Durable Object, and what tenants cost in a month: node bench/hosts/durable.ts
import { readFileSync } from 'node:fs'
import { stageAt } from '../../test/hosts/ask.ts'
import { SERVICE, startWorkerd } from '../../test/hosts/workerd.ts'
import { type Measured, monthlyCosts } from './costs.ts'

const COUNT = Number(process.argv[2] ?? 500)
const MS_PER_TICK = 10

const workerd = await startWorkerd({ ...SERVICE, entry: 'bench/hosts/rows-worker.ts' })
const { request, as } = stageAt(() => workerd.url)

/** What the process has computed, in milliseconds. */
function cpuOf(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK
}

/** Does something so often, and tells what one unit of it costs. */
async function measure(
  what: string,
  times: number,
  work: (i: number) => Promise<unknown>,
  units = 1,
): Promise<Measured> {
  const rows = async () => (await (await fetch(`${workerd.url}/rows`)).json()) as { read: number; written: number }
  const before = { ...(await rows()), cpu: cpuOf(workerd.process.pid!) }
  for (let i = 0; i < times; i++) await work(i)
  // Indexes follow in the background.
  await new Promise((done) => setTimeout(done, 3_000))
  const after = { ...(await rows()), cpu: cpuOf(workerd.process.pid!) }
  const each = (name: keyof Measured) => (after[name] - before[name]) / times / units
  const { cpu, read, written } = { cpu: each('cpu'), read: each('read'), written: each('written') }
  console.log(
    `${what.padEnd(30)} ${cpu.toFixed(2)} ms  ${read.toFixed(1)} rows read  ${written.toFixed(1)} rows written`,
  )
  return { cpu, read, written }
}

const ids: string[] = []
const contact = (i: number) => ({ name: `Contact ${i}`, email: `c${i}@example.org`, stage: 'Lead', title: 'Engineer' })
try {
  for (let i = 0; i < 200; i++) await request('POST', '/~warm/Contact', contact(i))
  const write = await measure('create a contact', COUNT, async (i) =>
    ids.push((await request('POST', '/~acme/Contact', contact(i))).body.$id),
  )
  await measure('update a contact', COUNT, (i) =>
    request('PUT', `/~acme/Contact/${ids[i]}`, { title: `Engineer ${i}` }),
  )
  await measure('read a contact', COUNT, (i) => request('GET', `/~acme/Contact/${ids[i]}`))
  const list = await measure('list 25 contacts', COUNT, () => request('GET', '/~acme/Contact?stage=Lead&limit=25'))
  await measure('a wrong key', COUNT, () => as(`no-such-key~acme`)('GET', '/~acme/Contact'))
  await measure('an unknown tenant', COUNT, (i) => as(`no-such-key~unknown-${i}`)('GET', `/~unknown-${i}/Contact`))
  await measure('create a tenant', COUNT / 10, (i) => request('POST', `/~tenant-${i}/Contact`, contact(i)))
  await measure('run code', COUNT / 5, () => request('POST', '/~acme/do', { code: 'await $.Contact.count()' }))
  const many = COUNT * 10
  const rows = Array.from({ length: many }, (_, i) => JSON.stringify(contact(i))).join('\n')
  const type = { 'content-type': 'application/x-ndjson' }
  await measure('import a row', 1, () => request('POST', '/~bulk/import/Contact', rows, type), many)
  const { text } = await request('GET', '/operator/tenants/bulk/log')
  await measure('restore an event', 1, () => request('PUT', '/operator/tenants/bulk-2/log', text), many)
  for (const tenants of [1, 1_000, 100_000]) console.log(tenants, monthlyCosts(tenants, write, list))
} finally {
  await workerd.stop()
}
