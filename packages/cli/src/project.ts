import { basename, resolve } from 'node:path'
import { codeText } from './folder/code-text.ts'
import { typesText } from './folder/types-file.ts'
import { ownVersion } from './own-version.ts'

/** The files of a new project in `folder`. */
export function projectIn(folder: string): { readonly [file: string]: string } {
  const name =
    basename(resolve(folder))
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')
      .replace(/^-+|-+$/g, '') || 'fleet'
  return { 'package.json': manifest(name, ownVersion()), 'README.md': readme(name), ...FILES }
}

function manifest(name: string, version: string): string {
  const content = {
    name,
    private: true,
    type: 'module',
    scripts: {
      dev: 'tilde dev',
      seed: 'node seed.ts',
      app: 'node app.ts',
      push: 'tilde schema push',
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

/** The type of the example, and what is declared around it. */
const SHIP = {
  name: 'string!',
  registration: 'string##',
  length: 'number',
  status: 'Planned | Afloat | Scrapped = Planned',
  captain: '-> Contact.ships',
  launch: { event: 'launched', from: 'Planned', set: { status: 'Afloat', launchedAt: '$now' } },
  launchedAt: 'datetime',
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
  "include": ["*.ts", "tilde"]
}
`,
  'tilde/types/ship.ts': `import { noun } from '@tildebase/nouns'

/** A ship of ours. A string is a field, an object a verb. */
export const Ship = noun('Ship', ${codeText(SHIP)})
`,
  'tilde/tilde.d.ts': typesText([{ name: 'Ship', notation: SHIP }]),
  'tilde/hooks/ship.ts': `import { hooks } from '@tildebase/nouns'
import { Ship } from '../types/ship.ts'

/** A BEFORE hook may change or refuse what is written; an AFTER hook runs once it is durable. Only the functions are stored. */
export default hooks(Ship, {
  launching(ship) {
    if (!ship.captain) throw new Error('A ship needs a captain before it is launched.')
  },
})
`,
  'tilde/workflows/launch.ts': `import { workflow } from '@tildebase/nouns'

/** Runs once for every ship that is launched. */
export default workflow('Launch', {
  triggerEvent: 'Ship.launched',
  steps: [
    {
      code: async (event, $) => {
        await $.Activity.create({ subject: \`\${event.data.name} was launched\`, type: 'Note' })
      },
    },
  ],
})
`,
  'tilde/roles/captain.ts': `import { role } from '@tildebase/nouns'

/** People with this role change ships, and read contacts. */
export default role('Captain', { scopes: 'write:Ship,read:Contact' })
`,
  'tilde/views/afloat.ts': `import { view } from '@tildebase/nouns'

/** A list that everyone finds in the console. */
export default view('Afloat', { type: 'Ship', filter: { status: 'Afloat' }, sort: 'name' })
`,
  'client.ts': `import { existsSync, readFileSync } from 'node:fs'
import { tildebase } from '@tildebase/client'

/** The server of \`npm run dev\`, unless the environment names another. */
const apiKey = process.env.TILDE_KEY ?? (existsSync('data/root.key') ? readFileSync('data/root.key', 'utf8').trim() : '')

export const $ = tildebase({
  tenant: process.env.TILDE_TENANT ?? 'dev',
  apiKey,
  baseUrl: process.env.TILDE_URL ?? 'http://localhost:8787',
})
`,
  'seed.ts': `import { $ } from './client.ts'

/** Run it as often as you like: what is there is not made again. */
const SHIPS = [
  { registration: 'GB-1', name: 'Beagle', length: 27 },
  { registration: 'GB-2', name: 'Endeavour', length: 30 },
]

const ada = (await $.Contact.findOne({ email: 'ada@example.org' })) ?? (await $.Contact.create({ name: 'Ada', email: 'ada@example.org' }))
for (const ship of SHIPS) {
  if (await $.Ship.count({ registration: ship.registration })) continue
  const { $id } = await $.Ship.create({ ...ship, captain: ada.$id })
  const { name, status } = await $.Ship.launch($id)
  console.log(\`\${name} is \${status}.\`)
}
console.log(\`\${await $.Ship.count()} ships\`)
`,
  'app.ts': `import { createServer } from 'node:http'
import { $ } from './client.ts'

/** A page of the ships that follows every change. The key stays on this server. */
const PAGE = \`<!doctype html>
<meta charset="utf-8">
<title>Fleet</title>
<h1>Fleet</h1>
<form><input name="name" placeholder="A new ship" required> <button>Add</button></form>
<ul></ul>
<script type="module">
  const list = document.querySelector('ul')
  const show = async () => {
    const ships = await (await fetch('/ships')).json()
    list.replaceChildren(...ships.map(({ name, status }) => Object.assign(document.createElement('li'), { textContent: name + ': ' + status })))
  }
  new EventSource('/events').onmessage = show
  document.querySelector('form').onsubmit = async (event) => {
    event.preventDefault()
    const name = new FormData(event.target).get('name')
    await fetch('/ships', { method: 'POST', body: JSON.stringify({ name }) })
    event.target.reset()
  }
  show()
</script>\`

const server = createServer(async (request, response) => {
  if (request.url === '/events') {
    const gone = new AbortController()
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
    request.on('close', () => gone.abort())
    for await (const { type } of $.events.stream({ type: 'Ship', signal: gone.signal })) response.write(\`data: \${type}\\n\\n\`)
    return
  }
  if (request.url === '/ships' && request.method === 'POST') {
    const { name } = (await new Response(request as never).json()) as { name: string }
    return response.end(JSON.stringify(await $.Ship.create({ name })))
  }
  if (request.url === '/ships') return response.end(JSON.stringify(await $.Ship.find({}, { sort: { name: 1 } })))
  response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
})
server.listen(Number(process.env.PORT ?? 3000), () => {
  console.log(\`http://localhost:\${(server.address() as { port: number }).port}\`)
})
`,
  'ship.test.ts': `import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tildebase } from '@tildebase/client'
import { localTildebase, MovedClock } from '@tildebase/server'

test('a ship is launched with a captain only, and the launch is noted', async () => {
  const clock = new MovedClock('2026-01-01T00:00:00Z')
  const local = await localTildebase({ folder: 'tilde', clock })
  const $ = tildebase(local)
  const beagle = await $.Ship.create({ name: 'Beagle' })

  await assert.rejects($.Ship.launch(beagle.$id), /needs a captain/)
  const ada = await $.Contact.create({ name: 'Ada' })
  await $.Ship.update(beagle.$id, { captain: ada.$id })
  await clock.advance('1d')

  const { status, launchedAt } = await $.Ship.launch(beagle.$id)
  assert.deepEqual([status, launchedAt], ['Afloat', '2026-01-02T00:00:00.000Z'])
  await clock.advance('1s')
  assert.equal((await $.Activity.findOne())?.subject, 'Beagle was launched')
  await local.close()
})
`,
}

function readme(name: string): string {
  return `# ${name}

\`\`\`sh
npm install
npm run dev        # a server with the declarations of tilde/, which follows every change of them
\`\`\`

In a second terminal:

\`\`\`sh
npm run seed       # two ships
npm run app        # a page that follows them: http://localhost:3000
npm test           # the hooks and the workflow, in this process, with a moved clock
npm run check      # the types
\`\`\`

| folder | content |
|---|---|
| \`tilde/types\` | your types, and what you add to built-in ones |
| \`tilde/hooks\` | code before and after verbs |
| \`tilde/workflows\` | what runs after events or at times |
| \`tilde/roles\`, \`tilde/views\` | rights of people, shared lists of the console; \`tilde/webhooks\` likewise |
| \`tilde/tilde.d.ts\` | the types for TypeScript, written by \`tilde dev\` and \`tilde schema push\` |

## Next step

Add a field to \`tilde/types/ship.ts\`, such as \`home: 'string'\`, while \`npm run dev\` runs: the server has it at once, and so
has \`$.Ship\` in your editor. To rename a field, say so: \`noun('Ship', { … }, { renamed: { metres: 'length' } })\`.

Bring it to another server: \`TILDE_URL=https://… TILDE_KEY=… npm run push\`. It shows the plan, converts what is stored, and asks
before anything is lost; \`--yes\` answers in scripts, \`--all\` changes all tenants.
`
}
