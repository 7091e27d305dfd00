import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../../chance.ts'
import { insist } from './clients/tenancy.ts'
import type { DiskFault } from './disk.ts'
import { refuses, restart, startService, verified } from './episode.ts'
import type { World } from './world.ts'

const MINUTE = 60_000
/** More operations than a new tenant with two writes and the close of another one take. */
const OPERATIONS = 64
/** After these a tenant refuses requests until it is opened again. */
const LASTING: readonly DiskFault[] = ['syncError', 'readError', 'writeError']
const KINDS: readonly DiskFault[] = ['full', 'shortWrite', ...LASTING]

/**
 * Lets each operation on the disk fail once, in every way, while a tenant is created, writes and sets a timer. After the
 * repair all of it must happen, on a full disk without a restart. Returns what has not happened.
 */
export async function sweepDisk(world: World, chance: Chance, step: number): Promise<string[]> {
  const faults: string[] = []
  for (const kind of KINDS)
    for (let after = Math.floor(chance.next() * step); after < OPERATIONS; after += step)
      faults.push(...(await failOnce(world, chance, kind, after)))
  return faults
}

async function failOnce(world: World, chance: Chance, kind: DiskFault, after: number): Promise<string[]> {
  const slug = `${kind.toLowerCase()}${after}`
  const at = `${kind} after ${after} operations`
  world.tenants.clear()
  world.disk.fail(kind, after)
  const reminderAt = new Date(world.time.now + 10 * MINUTE).toISOString()
  const task = { subject: 'Call', type: 'Task', reminderAt }
  const writes = Promise.all([
    insist(world, chance, 'POST', `/~${slug}/Activity`, task, 'task'),
    insist(world, chance, 'POST', `/~${slug}/Contact`, { name: 'Ada' }, 'contact'),
    insist(world, chance, 'POST', '/~other/Contact', { name: slug }, slug),
  ])
  await world.time.sleep(MINUTE)
  world.disk.fail('none', 0)
  const faults: string[] = []
  world.tenants.add(slug).add('other')
  if (await refuses(world)) {
    if (!LASTING.includes(kind)) faults.push(`${at}: a tenant refuses requests after the repair`)
    await restart(world, chance)
  }
  const replies = await writes
  await world.time.sleep(30 * MINUTE)
  const events = await insist(world, chance, 'GET', `/~${slug}/events?limit=100`)
  const types: string[] = events?.body.results?.map(({ type }: { type: string }) => type) ?? []
  if (replies.some((reply) => reply?.status !== 201)) faults.push(`${at}: ${replies.map((reply) => reply?.status)}`)
  for (const type of ['Activity.created', 'Contact.created', 'Activity.reminded'])
    if (types.filter((one) => one === type).length !== 1) faults.push(`${at}: ${type} in ${types}`)
  return faults
}

/** Cuts the power after the first start: the keys that it made must be the same after the next one. */
export async function sweepFirstStarts(world: World, starts: number): Promise<string[]> {
  const faults: string[] = []
  const keys = () => readFileSync(join(world.disk.data, 'secret.key'), 'utf8')
  for (let n = 0; n < starts; n++) {
    await world.stop()
    for (const name of readdirSync(world.disk.data)) rmSync(join(world.disk.data, name), { recursive: true })
    await startService(world)
    const before = keys()
    await world.crash(true)
    await startService(world)
    if (keys() !== before) faults.push(`first start ${n}: the key is another one after a power cut`)
  }
  return faults
}

/**
 * Cuts the power after a disk has said that it had synced, and had not. Acknowledged writes may be lost then. A tenant that
 * answers has the first of them in their order, or `verify` finds the damage. Returns where it is otherwise.
 */
export async function sweepLostSyncs(world: World, chance: Chance, times: number): Promise<string[]> {
  const faults: string[] = []
  for (let n = 0; n < times; n++) {
    const slug = `lost${n}`
    const written: string[] = []
    const fault = Math.floor(chance.next() * 20)
    for (let i = 0; i < 20; i++) {
      if (i === 5) world.disk.fail('lostSync', fault)
      const name = `${slug}.${i}`
      if ((await insist(world, chance, 'POST', `/~${slug}/Contact`, { name }, name))?.status === 201) written.push(name)
      await world.time.sleep(chance.between(0, 2_000))
    }
    await world.crash(true)
    if (!(await isStarted(world))) continue
    const reply = await world.request('GET', `/~${slug}/events?limit=100`)
    if (reply?.status !== 200) continue
    const left: string[] = reply.body.results.map(({ data }: { data: { name: string } }) => data.name)
    const isPrefix = left.every((name, i) => name === written[i])
    await world.stop()
    if (!isPrefix && verified(world, slug).length === 0) faults.push(`${slug}: ${left} of ${written}`)
    await startService(world)
  }
  return faults
}

/** Starts the service on what is left. If it refuses to, it is started on an empty disk. */
async function isStarted(world: World): Promise<boolean> {
  try {
    await world.start()
    return true
  } catch {
    await world.crash(false)
    for (const name of readdirSync(world.disk.data)) rmSync(join(world.disk.data, name), { recursive: true })
    await startService(world)
    return false
  }
}
