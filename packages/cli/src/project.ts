import { basename, resolve } from 'node:path'
import { ownVersion } from './own-version.ts'

/** The files of a new project in `folder`. */
export function projectIn(folder: string): { readonly [file: string]: string } {
  const name =
    basename(resolve(folder))
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'fleet'
  return { 'package.json': manifest(name, ownVersion()), ...FILES }
}

function manifest(name: string, version: string): string {
  const content = {
    name,
    private: true,
    type: 'module',
    scripts: {
      serve: 'tildebase --config tilde.config.ts',
      script: 'node script.ts',
      test: 'node --test',
      check: 'tsc',
    },
    dependencies: {
      '@tildebase/client': version,
      '@tildebase/nouns': version,
      '@tildebase/server': version,
      tildebase: version,
    },
    devDependencies: { '@types/node': '^22.18.0', typescript: '^5.9.0 || ^7.0.0' },
    engines: { node: '>=22.18' },
  }
  return `${JSON.stringify(content, null, 2)}\n`
}

const FILES = {
  '.gitignore': 'node_modules/\ndata/\n',
  'tsconfig.json': `{
  "compilerOptions": {
    "target": "es2024",
    "module": "nodenext",
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "noEmit": true,
    "skipLibCheck": true,
    "types": ["node"]
  },
  "include": ["*.ts"]
}
`,
  'nouns.ts': `import { noun } from '@tildebase/nouns'

/** A ship of ours. A string is a field, an object a verb. */
export const Ship = noun('Ship', {
  name: 'string!',
  registration: 'string##',
  length: 'number',
  status: 'Planned | Afloat | Scrapped = Planned',
  captain: '-> Contact.ships',
  launch: { event: 'launched', from: 'Planned', set: { status: 'Afloat', launchedAt: '$now' } },
  launchedAt: 'datetime',
})

/** The types of this project, for the server and for its clients. */
export const nouns = { Ship }
`,
  'hooks.ts': `import type { HookRegistryOf } from '@tildebase/server'
import type { nouns } from './nouns.ts'

/** BEFORE hooks may change or refuse what is written; AFTER hooks run once it is durable. */
export function hooks(on: HookRegistryOf<typeof nouns>): void {
  on.Ship.launching((ship) => {
    if (!ship.captain) throw new Error('A ship needs a captain before it is launched.')
  })
  on.Ship.launched(async (ship, $) => {
    await $.Activity.create({ subject: \`\${ship.name} was launched\`, type: 'Note', contact: ship.captain })
  })
}
`,
  'tilde.config.ts': `import { defineProgram } from '@tildebase/server'
import { hooks } from './hooks.ts'
import { nouns } from './nouns.ts'

export default defineProgram({ nouns, hooks })
`,
  'script.ts': `import { tildebase } from '@tildebase/client'
import { nouns } from './nouns.ts'

const $ = tildebase({
  tenant: process.env.TILDE_TENANT ?? 'fleet',
  apiKey: process.env.TILDE_KEY ?? process.env.TILDE_ROOT_KEY ?? '',
  baseUrl: process.env.TILDE_URL ?? 'http://localhost:8787',
  nouns,
})

const ada = await $.Contact.create({ name: 'Ada' })
const beagle = await $.Ship.create({ name: 'Beagle', length: 27, captain: ada.$id })
const { status } = await $.Ship.launch(beagle.$id)
console.log(\`\${beagle.name} is \${status}.\`)

for await (const ship of $.Ship.all({ 'captain.name': 'Ada' })) console.log(ship.$id, ship.name)
`,
  'ship.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tildebase } from '@tildebase/client'
import { localTildebase } from '@tildebase/server'
import { hooks } from './hooks.ts'
import { nouns } from './nouns.ts'

test('a ship is launched with a captain only', async () => {
  const local = await localTildebase({ nouns, hooks })
  const $ = tildebase(local)
  const beagle = await $.Ship.create({ name: 'Beagle' })

  await assert.rejects($.Ship.launch(beagle.$id), /needs a captain/)
  const ada = await $.Contact.create({ name: 'Ada' })
  await $.Ship.update(beagle.$id, { captain: ada.$id })

  assert.equal((await $.Ship.launch(beagle.$id)).status, 'Afloat')
  await local.close()
})
`,
}
