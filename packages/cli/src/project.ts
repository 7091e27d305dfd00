/** The files of a new project. */
export const PROJECT: { readonly [file: string]: string } = {
  'package.json': `${JSON.stringify(
    {
      name: 'fleet',
      private: true,
      type: 'module',
      scripts: { serve: 'tilde serve --config tilde.config.ts', script: 'node script.ts' },
      dependencies: { '@tildebase/cli': '^0.1.0', '@tildebase/client': '^0.1.0', '@tildebase/nouns': '^0.1.0' },
    },
    null,
    2,
  )}\n`,
  'nouns.ts': `import { noun } from '@tildebase/nouns'

/** A ship of ours. A string is a field, an object a verb: tilde schema Contact shows more of the notation. */
export const Ship = noun('Ship', {
  name: 'string!',
  registration: 'string##',
  length: 'number',
  status: 'Planned | Afloat | Scrapped = Planned',
  captain: '-> Contact.ships',
  launch: { event: 'launched', from: 'Planned', set: { status: 'Afloat', launchedAt: '$now' } },
  launchedAt: 'datetime',
})
`,
  'tilde.config.ts': `import { Ship } from './nouns.ts'

export const nouns = [Ship]

/** BEFORE hooks may change or refuse what is written; AFTER hooks run once it is durable. */
export function hooks(on: any): void {
  on.Ship.launching((ship: any) => {
    if (!ship.captain) throw new Error('A ship needs a captain before it is launched.')
  })
  on.Ship.launched((ship: any, $: any) => {
    $.Activity.create({ subject: \`\${ship.name} was launched\`, type: 'Note', contact: ship.captain })
  })
}
`,
  'script.ts': `import { tildebase } from '@tildebase/client'
import { Ship } from './nouns.ts'

const $ = tildebase({
  tenant: process.env.TILDE_TENANT ?? 'fleet',
  apiKey: process.env.TILDE_KEY ?? process.env.TILDE_ROOT_KEY ?? '',
  baseUrl: process.env.TILDE_URL,
  nouns: { Ship },
})

const ada = await $.Contact.create({ name: 'Ada' })
const beagle = await $.Ship.create({ name: 'Beagle', length: 27, captain: ada.$id })
const { status } = await $.Ship.launch(beagle.$id)
console.log(\`\${beagle.name} is \${status}.\`)

for await (const ship of $.Ship.all({ 'captain.name': 'Ada' })) console.log(ship.$id, ship.name)
`,
}
