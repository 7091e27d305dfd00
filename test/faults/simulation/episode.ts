import { copyFileSync, existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Chance } from '../../chance.ts'
import { DAY, LONGEST_ALARM, runClient } from './clients/clients.ts'
import { createTenancy, type Tenancy } from './clients/tenancy.ts'
import type { DiskFault } from './disk.ts'
import { judge, verifyFile } from './judge.ts'
import type { World } from './world.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const CLIENTS = 3
/** A process is killed at one of so many operations on its disk. */
const MOST_OPERATIONS = 80
const DISK: readonly DiskFault[] = ['writeError', 'full', 'shortWrite', 'syncError', 'readError']

/**
 * One episode: clients of two new tenants work while the process is killed, the power fails, the disk and the network fail.
 * Then the faults end, all that is due has its time, and everything must have happened. Returns what has not.
 */
export async function runEpisode(world: World, chance: Chance, name: string): Promise<string[]> {
  const until = world.time.now + chance.between(10 * MINUTE, 3 * HOUR)
  const faulty = makeFaults(world, chance.fork(), until)
  const slugs = ['a', 'b'].map((letter) => `${letter}${name}`)
  const tenancies = await Promise.all(slugs.map((slug) => runTenancy(world, chance.fork(), slug, until)))
  await faulty

  await world.time.sleep(LONGEST_ALARM + 2 * DAY)

  const faults: string[] = []
  for (const tenancy of tenancies) faults.push(...(await judge(world, chance, tenancy)))
  await world.stop()
  for (const slug of slugs) faults.push(...verified(world, slug))
  await startService(world)
  return faults
}

async function runTenancy(world: World, chance: Chance, slug: string, until: number): Promise<Tenancy> {
  const tenancy = await createTenancy(world, chance, slug)
  const clients = Array.from({ length: CLIENTS }, (_, i) =>
    runClient(world, chance.fork(), tenancy, until, `${slug}.${i}`),
  )
  await Promise.all(clients)
  return tenancy
}

/** Lets things fail until a time, and repairs all of them. */
async function makeFaults(world: World, chance: Chance, until: number): Promise<void> {
  while (world.time.now < until) {
    await world.time.sleep(chance.between(SECOND, 10 * MINUTE))
    await chance.pick(FAULTS)(world, chance)
  }
  Object.assign(world.network.weather, { isCut: false, failing: 0 })
  if (await refuses(world)) await restart(world, chance)
}

type Fault = (world: World, chance: Chance) => Promise<void>

const kill: Fault = async (world, chance) => {
  world.disk.fail('crash', Math.floor(chance.next() * MOST_OPERATIONS))
  for (let i = 0; i < 100 && !world.disk.isCrashed; i++) await world.time.sleep(chance.between(0, 5 * SECOND))
  await world.crash(chance.next() < 0.5)
  // Now and then it is killed while it starts.
  if (chance.next() < 0.3) world.disk.fail('crash', Math.floor(chance.next() * MOST_OPERATIONS * 2))
  await startService(world, chance.next() < 0.5)
}

const failDisk: Fault = async (world, chance) => {
  world.disk.fail(chance.pick(DISK), Math.floor(chance.next() * MOST_OPERATIONS))
  await world.time.sleep(chance.between(SECOND, 10 * MINUTE))
  if (world.disk.hits > 0) world.counts.diskFaults++
  world.disk.fail('none', 0)
  if (await refuses(world)) await restart(world, chance)
}

const failNetwork: Fault = async (world, chance) => {
  const { weather } = world.network
  if (chance.next() < 0.5) weather.isCut = true
  else weather.failing = chance.next()
  if (chance.next() < 0.5) return
  await world.time.sleep(chance.between(SECOND, HOUR))
  Object.assign(weather, { isCut: false, failing: 0 })
}

export const restart: Fault = async (world) => {
  world.counts.restarts++
  await world.stop()
  await startService(world)
}

const FAULTS: readonly Fault[] = [kill, kill, failDisk, failDisk, failNetwork, restart]

/** Starts the service. A process that is killed meanwhile, or refuses to start on a disk that fails, is started again. */
export async function startService(world: World, power = false): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await world.start()
      return
    } catch (reason) {
      if (world.disk.hits === 0 || tries > 5) throw reason
      await world.crash(power)
    }
  }
}

/** Whether the service still refuses requests to a tenant some minutes after its disk was repaired. */
export async function refuses(world: World): Promise<boolean> {
  await world.time.sleep(2 * MINUTE)
  const { tenants } = world
  for (const slug of tenants) {
    const reply = await world.request('GET', `/~${slug}/Contact?limit=1`)
    if (reply === null || reply.status >= 500) return true
  }
  return false
}

/** What `verify` finds in the file of a tenant, after the service has stopped. */
export function verified(world: World, slug: string): string[] {
  const copy = join(world.disk.root, 'verified.db')
  rmSync(copy, { force: true })
  const file = join(world.disk.data, 'tenants', slug.slice(0, 2), `${slug}.db`)
  if (!existsSync(file)) return []
  copyFileSync(file, copy)
  return verifyFile(copy, slug)
}
