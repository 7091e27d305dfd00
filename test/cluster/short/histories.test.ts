import { expect, onTestFinished, test } from 'vitest'
import { Chance } from '../../chance.ts'
import { HOSTS } from '../../histories/hosts.ts'
import { judge, play } from '../../histories/round.ts'

test('transactions and lists through all nodes are strictly serializable, also when something happens to the owner', async () => {
  const host = await HOSTS.cluster!()
  onTestFinished(() => host.stop())
  const chance = new Chance(11)

  for (const tenant of ['h1', 'h2', 'h3']) {
    const disturb = () => host.disturb(chance, tenant)
    const played = await play(host.service, tenant, chance.fork(), { clients: 6, requests: 120, disturb })

    expect(judge(played)).toEqual([])
  }
})
