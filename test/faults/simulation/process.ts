import { createHash } from 'node:crypto'
import { Chance } from '../../chance.ts'
import { SimulatedTime } from './time.ts'
import type { Counts } from './world.ts'

/** What came of the episodes of one seed. */
export interface Report extends Counts {
  readonly hours: number
  readonly episodes: number
  readonly received: number
  readonly operations: number
  /** Of all requests that were received, with their times. */
  readonly digest: string
  readonly faults: readonly string[]
}

const BEGIN = Date.UTC(2026, 0, 1)
const HOUR = 3_600_000
const FIRST_STARTS = 10
const LOST_SYNCS = 10

/** The process that run.ts starts with the simulated disk: `process.ts FOLDER SEED EPISODES STEP`. */
const [root, seed, episodes, step] = process.argv.slice(2)
const chance = new Chance(Number(seed))
// The service keeps the timers that it finds when it is loaded.
const time = new SimulatedTime(BEGIN, chance.fork())
const { runEpisode, startService } = await import('./episode.ts')
const { sweepDisk, sweepFirstStarts, sweepLostSyncs } = await import('./sweep.ts')
const { World } = await import('./world.ts')
const world = new World(time, root!, chance)
const faults: string[] = []
let played = 0

async function play(): Promise<void> {
  await startService(world)
  // A step of zero leaves these out: only every so many operations fail.
  if (Number(step) > 0) {
    faults.push(...(await sweepFirstStarts(world, FIRST_STARTS)))
    faults.push(...(await sweepDisk(world, chance.fork(), Number(step))))
    faults.push(...(await sweepLostSyncs(world, chance.fork(), LOST_SYNCS)))
  }
  for (; played < Number(episodes) && faults.length === 0; played++)
    faults.push(
      ...(await runEpisode(world, chance.fork(), String(played))).map((fault) => `episode ${played}: ${fault}`),
    )
}

/** What would end the process of the service. */
const uncaught = (reason: Error): void => {
  if (!world.isGhost) faults.push(`episode ${played}: uncaught: ${reason.stack}`)
}
world.time.uncaught = uncaught
process.on('uncaughtException', uncaught).on('unhandledRejection', uncaught)

try {
  await world.time.drive(play())
} catch (reason) {
  faults.push(`episode ${played}: ${(reason as Error).stack}`)
}
const { received } = world.network
const report: Report = {
  episodes: played,
  hours: Math.floor((world.time.now - world.time.begin) / HOUR),
  ...world.counts,
  received: received.length,
  operations: world.disk.operations,
  digest: createHash('sha256').update(JSON.stringify(received)).digest('hex').slice(0, 16),
  faults,
}
process.stdout.write(`${JSON.stringify(report)}\n`, () => process.exit())
