import { cpus, loadavg } from 'node:os'
import { bulk } from './bulk.ts'
import { live } from './live.ts'
import { queries } from './queries.ts'
import { start } from './start.ts'
import { tenants } from './tenants.ts'
import { webhooks } from './webhooks.ts'

/** Prints each figure next to its goal. Run it with `npm run bench -- goals [section…]`; all sections take ten minutes. */
const SECTIONS = { bulk, queries, live, webhooks, start, tenants }

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !Object.hasOwn(SECTIONS, name))
if (unknown.length > 0) throw new Error(`There is no ${unknown.join(', ')}: name ${Object.keys(SECTIONS).join(', ')}.`)

console.log(`${cpus().length} cores, Node ${process.version}, load ${loadavg()[0]!.toFixed(1)} before`)
console.log('| what | goal | measured | | more |\n|---|---|---|---|---|')
for (const [name, run] of Object.entries(SECTIONS)) if (asked.length === 0 || asked.includes(name)) await run()
process.exit()
