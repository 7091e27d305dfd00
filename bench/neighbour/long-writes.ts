import { type Attack, endlessly, load } from './scene.ts'

const ENTITIES = 140_000
const EVENTS = 60_000
const WORDS = Array.from({ length: 130_000 }, (_, i) => `w${(i * 7919) % 50_000}`).join(' ')

/** Each line of a text in this format is joined to the one before it. */
const FLOWED = `From: a@b.example
Content-Type: text/plain; format=flowed; delsp=yes

${'> a \n'.repeat(400_000)}`

/** Writes and analyses that go through all that a tenant has, and requests that are made to take long. */
export const LONG_WRITES: readonly Attack[] = [
  {
    name: 'declarations over 140,000 entities',
    prepare: async (scene) => {
      await scene.ask('PUT', '/schema/Car', { name: 'string!', size: 'string' })
      await load(scene, 'Car', ENTITIES, (i) => ({ name: `car ${i}`, size: `${i}` }))
    },
    run: async ({ ask, signal }) => {
      const kinds = ['number', 'string']
      await endlessly(signal, 1, (i) => ask('POST', '/schema/Car/retype', { field: 'size', to: kinds[i % 2] }))
    },
  },
  {
    name: 'eight funnels over 60,000 events',
    prepare: async (scene) => {
      const steps = ['a', 'b', 'c']
      await load(scene, 'Event', EVENTS, (i) => ({ name: steps[i % 3], type: 'track', userId: `u${i % 9_000}` }))
      await load(scene, 'Funnel', 1, () => ({ $id: 'funnel_one', name: 'one', steps }))
    },
    run: ({ ask, signal }) => endlessly(signal, 8, () => ask('POST', '/Funnel/funnel_one/analyze')),
  },
  {
    name: 'imports of 60 contacts with 1 MB of words',
    run: ({ ask, signal }) =>
      endlessly(signal, 1, () => {
        const rows = Array.from({ length: 60 }, (_, i) => JSON.stringify({ name: `c${i}`, title: WORDS }))
        return ask('POST', '/import/Contact', rows.join('\n'), 'application/x-ndjson')
      }),
  },
  {
    name: 'names that no entity has',
    prepare: (scene) => load(scene, 'Organization', 20_000, (i) => ({ name: `l${i}` })),
    run: ({ ask, signal }) =>
      endlessly(signal, 4, (run) => {
        const names = Array.from({ length: 20_000 }, (_, i) => [`name${run}x${i}`, 1])
        return ask('POST', '/Organization?dryRun=true', { name: 'x', ...Object.fromEntries(names) })
      }),
  },
  {
    name: 'e-mail that takes long to read',
    run: ({ ask, signal }) => endlessly(signal, 4, () => ask('POST', '/inbox/email', FLOWED, 'message/rfc822')),
  },
]
