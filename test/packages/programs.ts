/** A program that uses the client and the embedded engine, and what TypeScript must refuse. */
export const PROGRAM = `
import { Problem, tildebase, type Types, verifyWebhook } from '@tildebase/client'
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
export async function neverRuns(request: Request) {
  // @ts-expect-error ships are not qualified
  await $.Ship.qualify($id)
  // @ts-expect-error there is no such event
  await $.Webhook.create({ url: 'https://x.example', events: ['Ship.launchd'] })
  // @ts-expect-error there is no such event
  await $.Workflow.create({ name: 'w', triggerEvent: 'Ship.launchd' })
  const event = await verifyWebhook<Types<{ Ship: typeof Ship }>>(request, 'whsec_x')
  if (event.type === 'Ship.launched') console.log(event.data.name.length, event.data.knots ?? 0)
  // @ts-expect-error there is no such event
  if (event.type === 'Ship.launchd') return
  const { invitation } = await $.User.invite('user_1')
  console.log(invitation?.length)
  const contact = await $.Contact.create({ name: 'Ada' })
  // A field with a default always has a value.
  console.log(contact.stage.length)
  const problem = new Problem('conflict', 'x')
  // @ts-expect-error there is no such code
  if (problem.code === 'version_mismach') return
}
`

/** A module for browsers, which knows no types of Node. */
export const PAGE = `
import { tildebase } from '@tildebase/client'
import { noun } from '@tildebase/nouns'

const Ship = noun('Ship', { name: 'string!', status: 'Planned | Afloat = Planned', launch: { event: 'launched' } })
export const $ = tildebase({ tenant: 'acme', apiKey: 'tb_', nouns: { Ship }, fetch: (url, init) => fetch(url, init) })
export const find = (text: string) => $.Contact.find({ $text: text })
`
