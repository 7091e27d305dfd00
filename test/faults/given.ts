import { parseArgs } from 'node:util'
import { HOSTS } from './server.ts'

/** What a fault script is called with: `[rounds] [seed] [--host workerd]`. */
export function givenRounds() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { host: { type: 'string', default: 'Node' } },
  })
  const on = HOSTS[values.host]
  if (!on) throw new Error(`--host is one of ${Object.keys(HOSTS).join(', ')}.`)
  const [rounds = 500, seed = Date.now() % 1_000_000] = positionals.map(Number)
  return { host: values.host, on, rounds, seed }
}
