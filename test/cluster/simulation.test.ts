import { expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { runHistories } from './simulation/histories.ts'
import { runUpgrade } from './simulation/upgrade.ts'

/** `npm run simulate:cluster` runs 100,000. Here a part of them has to be quick. */
const HISTORIES = Number(process.env.TILDE_CLUSTER_HISTORIES ?? 2_000)
/** Enough to meet each mistake below several times. */
const MISTAKEN = 2_000

verifies(
  ['cluster.protocol', 'cluster.fence', 'cluster.gate'],
  'histories with crashes, stops, partitions, failovers and clocks that jump are linearizable, and lose nothing',
  async () => {
    const { fault, histories, acknowledged } = await runHistories(1, HISTORIES)

    expect(fault).toBeNull()
    expect(histories).toBe(HISTORIES)
    expect(acknowledged).toBeGreaterThan(HISTORIES)
  },
)

/** Enough to meet the mistake several times. */
const UPGRADES = 12

verifies(
  ['cluster.upgrade', 'cluster.stop'],
  'every request is answered while nodes are replaced by newer ones, and the only newer one stops once more',
  async () => {
    const { fault, acknowledged } = await runHistories(1, UPGRADES, {}, runUpgrade)

    expect(fault).toBeNull()
    expect(acknowledged).toBeGreaterThan(UPGRADES)
  },
)

test('the simulation finds a node that stops and claims tenants again', async () => {
  const { fault } = await runHistories(1, UPGRADES, { returning: true }, runUpgrade)

  expect(fault).toMatch(/not answered/)
})

test.each([
  ['answers that leave before the log has what they saw', { ungated: true }],
  ['a node that believes its lease for ever', { trusting: true }],
  ['a file of a crash that is used as it is', { unverified: true }],
  ['a log that takes changes of an earlier owner', { unfenced: true }],
])('the simulation finds %s', async (_, mistakes) => {
  expect((await runHistories(1, MISTAKEN, mistakes)).fault).not.toBeNull()
})
