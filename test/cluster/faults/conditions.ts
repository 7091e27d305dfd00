import { setTimeout as pause } from 'node:timers/promises'
import { LEASE } from '../machines/node.ts'
import type { Fault } from './fault.ts'

const HOUR = 3_600_000

/** Clocks that jump and disks that are slow. */
export const CONDITION_FAULTS: readonly Fault[] = [
  ...[HOUR, -HOUR].map(
    (shift): Fault => ({
      name: `the clock of the owner jumps by ${shift / HOUR} h`,
      async run({ cluster, chance, tenant, note }) {
        const owner = await cluster.ownerOf(tenant)
        owner.conditions.shiftClock(shift)
        note(`clock of ${owner.machine}`)
        await pause(chance.between(1, 2) * LEASE * 1_000)
        // Another owner must continue after the times that this one returned.
        if (chance.next() < 0.5) {
          await owner.end('SIGKILL')
          await pause(1.5 * LEASE * 1_000)
        }
        owner.conditions.reset()
        await pause(1_000)
      },
    }),
  ),
  ...[HOUR, -HOUR].map(
    (shift): Fault => ({
      name: `the clock of the primary jumps by ${shift / HOUR} h`,
      async run({ cluster, chance, note }) {
        const primary = await cluster.database.primary()
        primary.conditions.shiftClock(shift)
        note(`clock of ${primary.machine}`)
        await pause(chance.between(1, 2) * LEASE * 1_000)
        primary.conditions.reset()
        await pause(1_000)
      },
    }),
  ),
  {
    name: 'slow disk of the owner',
    async run({ cluster, chance, tenant, note }) {
      const owner = await cluster.ownerOf(tenant)
      const delay = chance.between(50, 900)
      owner.conditions.slowDisk(delay)
      note(`${Math.round(delay)} ms more for each fsync of ${owner.machine}`)
      await pause(chance.between(1, 2) * LEASE * 1_000)
    },
  },
  {
    name: 'slow disk of the primary and the standby',
    async run({ cluster, chance, note }) {
      const delay = chance.between(20, 400)
      for (const machine of [await cluster.database.primary(), await cluster.database.standby(true)])
        machine.conditions.slowDisk(delay)
      note(`${Math.round(delay)} ms more for each fsync`)
      await pause(chance.between(1, 2) * LEASE * 1_000)
    },
  },
]
