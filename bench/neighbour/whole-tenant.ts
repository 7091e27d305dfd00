import { openAsBlob } from 'node:fs'
import { join } from 'node:path'
import { type Attack, endlessly, load, type Scene } from './scene.ts'

/** How many events the tenant has; fewer for a trial. */
const EVENTS = Number(process.env.BENCH_EVENTS ?? 400_000)
const SIZE = `${EVENTS.toLocaleString('en')} events`

/** A name that no earlier run has used. */
const nameOf = (i: number) => `copy-${Date.now().toString(36)}-${i}`

const fill = (scene: Scene) =>
  load(scene, 'Contact', EVENTS, (i) => ({
    name: `Person ${i}`,
    email: `p${i}@example.org`,
    source: `number ${i * 7}`,
  }))
const fileOf = ({ data }: Scene) => join(data, 'backup.db')

/** What the operator, or an export, does with a large tenant as a whole: `npm run bench -- neighbour events`. */
export const WHOLE_TENANT: readonly Attack[] = [
  repeated('verify', ({ operator, attacker }) => operator('GET', `/operator/tenants/${attacker}/verify`)),
  repeated('backup', ({ operator, attacker }) => operator('GET', `/operator/tenants/${attacker}/backup`)),
  {
    ...repeated('restore', async (scene, i) => {
      const path = `/operator/tenants/${nameOf(i)}`
      const type = 'application/vnd.sqlite3'
      const status = await scene.operator('PUT', `${path}/restore`, await openAsBlob(fileOf(scene)), type)
      await scene.operator('DELETE', path)
      return status
    }),
    prepare: async (scene) => {
      await fill(scene)
      await scene.download(`/operator/tenants/${scene.attacker}/backup`, fileOf(scene))
    },
  },
  repeated('export', ({ ask }) => ask('GET', '/export/Contact?format=ndjson')),
  repeated('fork', async ({ operator, attacker }, i) => {
    const to = nameOf(i)
    const status = await operator('POST', `/operator/tenants/${attacker}/fork`, { to })
    await operator('DELETE', `/operator/tenants/${to}`)
    return status
  }),
]

function repeated(name: string, work: (scene: Scene, i: number) => Promise<number>): Attack {
  return {
    name: `${name} of ${SIZE}`,
    prepare: fill,
    run: (scene) =>
      endlessly(scene.signal, 1, async (i) => {
        const status = await work(scene, i)
        // A refusal would cost the neighbour nothing.
        if (status >= 400) throw new Error(`${name} was answered with ${status}.`)
      }),
  }
}
