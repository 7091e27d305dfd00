// npm run histories -- [rounds] [seed] [--host Node|workers|workerd|cluster] [--tenants 2] [--requests 400]
import { parseArgs } from 'node:util'
import { Chance } from '../chance.ts'
import { HOSTS } from './hosts.ts'
import { counts, judge, play } from './round.ts'

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    host: { type: 'string', default: Object.keys(HOSTS).join() },
    tenants: { type: 'string', default: '2' },
    requests: { type: 'string', default: '400' },
    clients: { type: 'string', default: '6' },
  },
})
const [rounds = 50, seed = Date.now() % 1_000_000] = positionals.map(Number)
const [requests, clients] = [Number(values.requests), Number(values.clients)]

for (const name of values.host.split(',')) {
  const start = HOSTS[name]
  if (!start) throw new Error(`--host is one of ${Object.keys(HOSTS).join(', ')}.`)
  const host = await start()
  const sums = {
    ...{ rounds: 0, disturbed: 0, transactions: 0, acknowledged: 0, refused: 0, unknown: 0 },
    ...{ lists: 0, events: 0, anomalies: 0 },
  }
  const began = Date.now()
  try {
    for (let round = 0; round < rounds; round++) {
      const chance = new Chance(seed + round)
      const isDisturbed = round % 2 === 1
      const tenants = Array.from({ length: Number(values.tenants) }, (_, index) => `r${seed + round}-${index}`)
      const played = await Promise.all(
        tenants.map((tenant, index) => {
          // What happens to the host happens to all of its tenants.
          const disturb = () => host.disturb(chance.fork(), tenant)
          const options = { clients, requests, ...(isDisturbed && index === 0 && { disturb }) }
          return play(host.service, tenant, chance.fork(), options)
        }),
      )
      sums.rounds++
      if (isDisturbed) sums.disturbed++
      for (const one of played) {
        for (const [field, count] of Object.entries(counts(one))) sums[field as keyof typeof sums] += count
        const anomalies = judge(one)
        sums.anomalies += anomalies.length
        for (const { kind, message } of anomalies.slice(0, 20))
          console.log(`${name}, seed ${seed + round}: ${kind}: ${message}`)
      }
      process.stderr.write(`${name}: ${JSON.stringify(sums)}\n`)
    }
  } finally {
    await host.stop()
  }
  const seconds = Math.round((Date.now() - began) / 1_000)
  console.log(JSON.stringify({ host: name, seed, ...sums, seconds }))
  if (sums.anomalies > 0) process.exitCode = 1
}
