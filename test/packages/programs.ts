/** A program that uses the client and the embedded engine, and what TypeScript must refuse. */
export const PROGRAM = `
import { tildebase } from '@tildebase/client'
import { noun } from '@tildebase/nouns'
import { localTildebase } from '@tildebase/server'

const Ship = noun('Ship', { name: 'string!', knots: 'number', launch: { event: 'launched' } })
const local = await localTildebase({
  nouns: { Ship },
  hooks(on) {
    on.Ship.creating((ship) => ({ name: ship.name?.trim() ?? '' }))
  },
})
const $ = tildebase(local)
const { $id, name } = await $.Ship.create({ name: ' Beagle ', knots: 11 })
await $.Ship.launch($id)
const [event] = await $.events.list({ type: 'Ship.launched' })
const knots: number | null | undefined = event?.data.knots
const { result } = await $.do('await $.Ship.count()')
console.log(JSON.stringify([name, knots, result]))
await local.close()

if (process.env.URL) {
  const remote = tildebase({ tenant: 'acme', apiKey: process.env.KEY ?? '', baseUrl: process.env.URL })
  const ada = await remote.Contact.create({ name: 'Ada' })
  console.log((await remote.Contact.qualify(ada.$id)).stage)
}
// @ts-expect-error ships are not qualified
if (process.env.NEVER) await $.Ship.qualify($id)
`

/** A module for browsers, which knows no types of Node. */
export const PAGE = `
import { tildebase } from '@tildebase/client'
export const $ = tildebase({ tenant: 'acme', apiKey: 'tb_', fetch: (url, init) => fetch(url, init) })
export const find = (text: string) => $.Contact.find({ $text: text })
`
