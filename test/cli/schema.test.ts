import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost({ TILDE_WEBHOOKS_INSECURE: '1' })
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT })
})
afterAll(() => host.stop())

const FILES = {
  'types/ship.ts': `import { noun } from '@tildebase/nouns'
export const Ship = noun('Ship', {
  name: 'string!',
  length: 'number',
  status: 'Planned | Afloat = Planned',
  captain: '-> Contact.ships',
  launch: { event: 'launched', from: 'Planned', set: { status: 'Afloat' } },
})
`,
  'types/contact.ts': `import { noun } from '@tildebase/nouns'
export default noun('Contact', { vip: 'boolean' })
`,
  'hooks/ship.ts': `import { hooks } from '@tildebase/nouns'
import { Ship } from '../types/ship.ts'

export default hooks(Ship, {
  async launching(ship, $) {
    const captain = ship.captain ? await $.Contact.get(ship.captain) : null
    if (captain === null) throw new Error(\`\${ship.name} needs a captain.\`)
  },
  created: async (ship, $) => {
    await $.Activity.create({ subject: ship.name, type: 'Note' })
  },
})
`,
  'roles/captain.ts': `import { role } from '@tildebase/nouns'
export default role('Captain', { scopes: 'write:Ship', filter: { Ship: { status: 'Afloat' } } })
`,
  'workflows/welcome.ts': `import { workflow } from '@tildebase/nouns'
export default workflow('Welcome', {
  triggerEvent: 'Contact.created',
  steps: [
    { verb: 'create', type: 'Activity', args: { subject: 'Welcome', type: 'Note' } },
    { code: async (event, $) => (await $.Contact.get(event.data.$id))?.name },
  ],
})
`,
  'views/afloat.ts': `import { view } from '@tildebase/nouns'
export default view('Afloat', { type: 'Ship', filter: { status: 'Afloat' }, columns: ['name', 'length'] })
`,
  'webhooks/log.ts': `import { webhook } from '@tildebase/nouns'
export default webhook('Log', { url: process.env.LOG_URL ?? 'http://127.0.0.1:9/log', events: ['Ship.*'] })
`,
}

function project(name: string, files: { readonly [file: string]: string }): string {
  for (const [file, text] of Object.entries(files)) {
    const path = join(tilde.folder, name, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
  return name
}

const at = (tenant: string, path: string, method = 'GET', body?: unknown) =>
  host.request(method, `/~${tenant}${path}`, body)

verifies(
  ['schema.push.twice', 'schema.code'],
  'a project is pushed once, and pushing again changes nothing',
  async () => {
    const folder = project('whole', FILES)
    const first = await tilde('schema', 'push', '--tenant', 'whole', '--folder', folder)
    const { body: before } = await at('whole', '/events?limit=1000')
    const second = await tilde('schema', 'push', '--tenant', 'whole', '--folder', folder)
    const { body: after } = await at('whole', '/events?limit=1000')

    expect([first.err, first.code, second.code]).toEqual(['', 0, 0])
    expect(first.out).toContain('+ create type Ship')
    expect(first.out).toMatch(/The secret of Log, shown only once: whsec_/)
    expect(second.out).toBe('No changes.\n')
    expect(after.results.length).toBe(before.results.length)
    const { body: ship } = await at('whole', '/Ship', 'POST', { name: 'Beagle' })
    const { body: refused } = await at('whole', `/Ship/${ship.$id}/launch`, 'POST')
    expect(refused).toMatchObject({ error: 'rejected', message: expect.stringContaining('Beagle needs a captain.') })
    const { body: ada } = await at('whole', '/Contact', 'POST', { name: 'Ada', vip: true })
    const launched = await at('whole', `/Ship/${ship.$id}/launch`, 'POST', { captain: ada.$id })
    expect(launched.body.status).toBe('Afloat')
  },
)

verifies('schema.pull', 'what a tenant has is pulled into files that make another one the same', async () => {
  await tilde('schema', 'push', '--tenant', 'whole', '--folder', project('whole', FILES))
  // Code as a person would store it, with types and a comment.
  const code = '// Trims.\n(contact: { name: string }) => ({ name: contact.name.trim() })'
  await at('whole', '/schema/Contact/hooks/creating', 'PUT', { code })
  const draft = { name: 'Farewell', triggerEvent: 'Contact.deleted', steps: [{ code: '() => 1' }] }
  await at('whole', '/Workflow', 'POST', draft)
  // Two names that would have the same file.
  for (const name of ['Ship captain', 'Ship-captain'])
    await at('whole', `/schema/roles/${encodeURIComponent(name)}`, 'PUT', { scopes: 'read:Ship' })

  const pulled = await tilde('schema', 'pull', '--tenant', 'whole', '--folder', 'pulled')
  const pushed = await tilde('schema', 'push', '--tenant', 'copy', '--folder', 'pulled')
  const same = await tilde('schema', 'diff', '--tenant', 'whole', '--folder', 'pulled')
  const again = await tilde('schema', 'pull', '--tenant', 'whole', '--folder', 'pulled')

  expect([pulled.err, pushed.err]).toEqual(['', ''])
  expect(readdirSync(join(tilde.folder, 'pulled')).sort()).toEqual(
    ['hooks', 'roles', 'tilde.d.ts', 'types', 'views', 'webhooks', 'workflows'].sort(),
  )
  expect(same.out).toBe('No changes.\n')
  expect(again.out.trim()).toBe('pulled/tilde.d.ts')
  const { body: one } = await at('whole', '/schema/plan', 'POST', {})
  const { body: two } = await at('copy', '/schema/plan', 'POST', {})
  expect(two.current).toEqual(one.current)
  const { body: copied } = await at('copy', '/Workflow?name=Farewell')
  expect(copied.results).toMatchObject([{ status: 'Draft' }])
})

test('pulling runs no code that is stored in the tenant', async () => {
  const mark = join(tilde.folder, 'ran')
  const run = `globalThis.process?.getBuiltinModule('node:fs').writeFileSync(${JSON.stringify(mark)}, '')`
  const codes = {
    creating: `(() => { ${run}; return (contact) => contact })()`,
    updating: `[(contact) => contact, ${run}][0]`,
    deleting: `(function (contact) { return contact }).bind(${run})`,
    created: `new (class { static { ${run} } }) && ((contact) => contact)`,
    updated: '(contact) => contact // all of it',
  }
  for (const [step, code] of Object.entries(codes))
    expect((await at('hostile', `/schema/Contact/hooks/${step}`, 'PUT', { code })).status, code).toBe(201)
  const steps = Object.values(codes).map((code) => ({ code }))
  await at('hostile', '/Workflow', 'POST', { name: 'Hostile', triggerEvent: 'Contact.created', steps })

  const pulled = await tilde('schema', 'pull', '--tenant', 'hostile', '--folder', 'hostile')
  const same = await tilde('schema', 'diff', '--tenant', 'hostile', '--folder', 'hostile')

  expect(existsSync(mark)).toBe(false)
  expect(pulled.err).toBe('')
  expect(same.out).toBe('No changes.\n')
})

verifies(
  'schema.prune',
  'a folder without a kind of things lists those of the tenant, and --prune deletes them',
  async () => {
    const folder = project('alone', { 'ship.ts': FILES['types/ship.ts'] })
    await at('alone', '/Webhook', 'POST', {
      url: 'http://127.0.0.1:9/',
      events: ['Contact.created'],
      description: 'Old',
    })
    await at('alone', '/schema/roles/Clerk', 'PUT', { scopes: 'read:crm' })

    const kept = await tilde('schema', 'push', '--tenant', 'alone', '--folder', folder)
    const asked = await tilde('schema', 'push', '--tenant', 'alone', '--folder', folder, '--prune')
    const pruned = await tilde('schema', 'push', '--tenant', 'alone', '--folder', folder, '--prune', '--yes')
    const { body: webhooks } = await at('alone', '/Webhook')

    expect(kept.out).toContain('role Clerk is in the tenant only')
    expect(kept.out).toContain('webhook Old is in the tenant only')
    expect([asked.code, pruned.code]).toEqual([2, 0])
    expect(asked.err).toContain('webhook Old would be deleted')
    expect(webhooks.total).toBe(0)
    expect((await tilde('schema', 'diff', '--tenant', 'alone', '--folder', folder)).out).toBe('No changes.\n')
  },
)

verifies('schema.push.asks', 'a push that would lose values does nothing without a yes', async () => {
  const folder = project('loses', { 'ship.ts': FILES['types/ship.ts'] })
  await tilde('schema', 'push', '--tenant', 'loses', '--folder', folder)
  await at('loses', '/Ship', 'POST', { name: 'Beagle', length: 27 })
  project('loses', { 'ship.ts': FILES['types/ship.ts'].replace("  length: 'number',\n", '') })

  const asked = await tilde('schema', 'push', '--tenant', 'loses', '--folder', folder)
  const { body: kept } = await at('loses', '/schema/Ship')
  const agreed = await tilde('schema', 'push', '--tenant', 'loses', '--folder', folder, '--yes')
  const { body: changed } = await at('loses', '/schema/Ship')

  expect(asked.code).toBe(2)
  expect(asked.err).toContain('1 entity of Ship would lose a value')
  expect([Object.hasOwn(kept.fields, 'length'), Object.hasOwn(changed.fields, 'length')]).toEqual([true, false])
  expect(agreed.code).toBe(0)
})

verifies('schema.push.all', 'a renamed field is renamed in all tenants', async () => {
  const other = await testHost()
  const all = tildeWith({ TILDE_URL: other.url, TILDE_ROOT_KEY: ROOT })
  try {
    for (const tenant of ['one', 'two']) await other.request('POST', `/~${tenant}/Contact`, { name: 'Ada' })
    const write = (text: string) => writeFileSync(join(all.folder, 'tilde', 'ship.ts'), text)
    mkdirSync(join(all.folder, 'tilde'))
    write(
      `import { noun } from '@tildebase/nouns'\nexport default noun('Ship', { name: 'string!', length: 'number' })\n`,
    )
    await all('schema', 'push', '--all')
    for (const tenant of ['one', 'two']) await other.request('POST', `/~${tenant}/Ship`, { name: 'B', length: 27 })
    write(
      `import { noun } from '@tildebase/nouns'
       export default noun('Ship', { name: 'string!', metres: 'number' }, { renamed: { metres: 'length' } })`,
    )

    const shown = await all('schema', 'diff', '--all')
    const { out, code } = await all('schema', 'push', '--all')

    expect(shown.out).toContain('length → metres')
    expect(out.match(/changes 1 entity/g)).toHaveLength(2)
    expect(code).toBe(0)
    for (const tenant of ['one', 'two']) {
      const { body } = await other.request('GET', `/~${tenant}/Ship`)
      expect(body.results).toMatchObject([{ metres: 27 }])
    }
  } finally {
    await other.stop()
  }
})

verifies(
  'schema.push.task',
  'a push that takes longer than a request may is continued as a task, and awaited',
  async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-slow-push-'))
    let other = await testHost({}, { data })
    const slow = tildeWith({ TILDE_URL: other.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'large' })
    const { port } = new URL(other.url)
    /** Only the push has little time: on a busy machine the rest may take longer. */
    const restart = async (env: Record<string, string>) => {
      await other.stop()
      other = await testHost(env, { data, port })
    }
    try {
      const write = (fields: string) =>
        writeFileSync(
          join(slow.folder, 'tilde', 'ship.ts'),
          `import { noun } from '@tildebase/nouns'\nexport default noun('Ship', ${fields})\n`,
        )
      mkdirSync(join(slow.folder, 'tilde'))
      write(`{ name: 'string!', length: 'string' }`)
      await slow('schema', 'push')
      const rows = Array.from({ length: 12_000 }, (_, i) => `B${i},${i}`)
      writeFileSync(join(slow.folder, 'ships.csv'), `name,length\n${rows.join('\n')}\n`)
      await slow('import', 'ships.csv', '--type', 'Ship')
      write(`{ name: 'string!', metres: 'number' }, { renamed: { metres: 'length' } }`)

      await restart({ TILDE_QUERY_TIMEOUT: '300ms' })
      const { out, err, code } = await slow('schema', 'push')
      await restart({})
      const { body: tasks } = await other.request('GET', '/~large/tasks')
      const { body: ships } = await other.request('GET', '/~large/Ship?metres=11999')

      expect([code, err]).toEqual([0, ''])
      expect(out).toContain('length → metres')
      expect(tasks.tasks.map(({ state }: { state: string }) => state)).toContain('done')
      expect(ships.total).toBe(1)
      expect((await slow('schema', 'push')).out).toBe('No changes.\n')
    } finally {
      await other.stop()
      rmSync(data, { recursive: true })
    }
  },
)

verifies('schema.push.rights', 'a push stores nothing that the rights of its key do not cover', async () => {
  const key = await host.key('narrow', 'admin:platform')
  const mine = tildeWith({ TILDE_URL: host.url, TILDE_KEY: key })
  mkdirSync(join(mine.folder, 'tilde'))
  writeFileSync(join(mine.folder, 'tilde', 'contact.ts'), FILES['types/contact.ts'])
  writeFileSync(
    join(mine.folder, 'tilde', 'hooks.ts'),
    `import { hooks } from '@tildebase/nouns'\nexport default hooks('Contact', { creating: (contact) => ({ name: contact.name }) })\n`,
  )

  const { code, err } = await mine('schema', 'push')

  expect(code).toBe(1)
  expect(err).toContain('hook Contact.creating: The hook would act with more rights than its author has')
  expect((await at('narrow', '/schema/Contact')).body.own).toEqual({})
})

verifies('schema.types', 'the written declarations type the client, hooks and workflows', async () => {
  const folder = project('typed', FILES)
  await tilde('schema', 'push', '--tenant', 'typed', '--folder', folder)
  const shown = await tilde('types', '--tenant', 'typed', '-o', '-')

  expect(shown.out).toBe(readFileSync(join(tilde.folder, 'typed', 'tilde.d.ts'), 'utf8'))
  const app = `import { tildebase } from '@tildebase/client'
const $ = tildebase({ tenant: 'typed', apiKey: '' })
export async function right() {
  const ships = await $.Ship.find({ status: 'Afloat', 'captain.name': 'Ada' }, { include: ['captain'] })
  const name: string | undefined = ships[0]?.captain?.name
  const vip: boolean | null | undefined = (await $.Contact.get(''))?.vip
  const launched: 'Afloat' = (await $.Ship.launch('')).status
  return [name, vip, launched]
}
export const wrong = [
  // @ts-expect-error not a state
  () => $.Ship.find({ status: 'Sunk' }),
  // @ts-expect-error not a verb
  () => $.Ship.sink(''),
  // @ts-expect-error not a relation
  () => $.Ship.find({}, { include: ['length'] }),
  // @ts-expect-error the name is missing
  () => $.Ship.create({ length: 3 }),
  // @ts-expect-error not a type
  () => $.Boat.find(),
]
`
  writeFileSync(join(tilde.folder, 'typed', 'app.ts'), app)
  expect(compiled('typed')).toBe('')
  // A mistake in a hook is found too.
  project('typed', { 'hooks/ship.ts': FILES['hooks/ship.ts'].replace('ship.captain)', 'ship.captian)') })
  expect(compiled('typed')).toContain("Property 'captian' does not exist")
})

test('a fault in a file, and one in the folder, is a sentence', async () => {
  const none = await tilde('schema', 'push', '--tenant', 'faults', '--folder', 'nowhere')
  project('faulty', {
    'ship.ts': "import { noun } from '@tildebase/nouns'\nexport default noun('Ship', { name: 'strin' })\n",
  })
  const faulty = await tilde('schema', 'diff', '--tenant', 'faults', '--folder', 'faulty')

  expect([none.code, faulty.code]).toEqual([2, 2])
  expect(none.err).toContain('There is no folder nowhere. Make one from a tenant: tilde schema pull')
  expect(faulty.err).toMatch(/faulty\/ship\.ts:\d+: The declaration of Ship is not valid\. name:/)
  expect(existsSync(join(tilde.folder, 'nowhere'))).toBe(false)
})

const OPTIONS = {
  target: 'es2024',
  module: 'nodenext',
  strict: true,
  allowImportingTsExtensions: true,
  erasableSyntaxOnly: true,
  noEmit: true,
  skipLibCheck: true,
  types: ['node'],
  lib: ['es2024', 'dom', 'esnext.iterator'],
}

/** What the compiler says about a project, whose packages are those of this repository. */
function compiled(name: string): string {
  const root = join(import.meta.dirname, '..', '..')
  const folder = join(root, '.tmp', `typed-${process.pid}`)
  rmSync(folder, { recursive: true, force: true })
  execFileSync('cp', ['-r', join(tilde.folder, name), folder])
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS, include: ['**/*.ts'] }))
  try {
    execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', '.'], { cwd: folder })
    return ''
  } catch (reason) {
    return String((reason as { stdout: Buffer }).stdout)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
