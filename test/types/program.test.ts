import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings, startHost } from '@tildebase/server'
import { afterAll, expect, test, vi } from 'vitest'
import { ROOT } from '../root-key.ts'
import { verifies } from '../verifies.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-program-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A file for --config. */
function program(name: string, nouns: string): string {
  const file = join(folder, name)
  const module = join(import.meta.dirname, '../../packages/nouns/src/index.ts')
  writeFileSync(file, `import { noun } from '${module}'\nexport const nouns = ${nouns}\n`)
  return file
}

/** A service on one data folder, as it is started and stopped. */
async function service(flags: Record<string, string>) {
  const settings = readSettings(
    { port: '0', data: join(folder, 'data'), workers: '0', ...flags },
    { TILDE_ROOT_KEY: ROOT },
  )
  const host = await startHost(settings)
  const request = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json' }
    const response = await fetch(`${host.url}${path}`, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  }
  return { request, url: host.url, stop: () => host.stop() }
}

verifies(
  'schema.contradiction',
  'a type of the program that contradicts a tenant is reported at the start, and the tenant works and is repaired',
  async () => {
    const first = await service({})
    await first.request('PUT', '/~a/schema/Refund', { status: 'Open | Done = Open', note: 'string' })
    const { body: refund } = await first.request('POST', '/~a/Refund', { note: 'late' })
    await first.request('POST', '/~b/Contact', { name: 'Ada' })
    await first.stop()
    const said: string[] = []
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    const config = program(
      'refund.ts',
      `{ Refund: noun('Refund', { status: 'Requested | Paid = Requested', pay: { event: 'paid', set: { status: 'Paid' } } }) }`,
    )
    const host = await service({ config })
    const start = said.join('')
    spy.mockRestore()

    const contacts = await host.request('GET', '/~a/Contact')
    const read = await host.request('GET', `/~a/Refund/${refund.$id}`)
    const written = await host.request('PUT', `/~a/Refund/${refund.$id}`, { status: 'Done' })
    const other = await host.request('POST', '/~b/Refund', {})
    const repaired = await host.request('DELETE', '/~a/schema/Refund')
    const after = await host.request('GET', '/~a/schema/Refund')

    expect(start).toContain('The type Refund in --config contradicts the one of the tenant a')
    expect(start).not.toContain('tenant b')
    expect([contacts.status, read.status, written.status]).toEqual([200, 200, 200])
    expect(read.body).toMatchObject({ status: 'Open', note: 'late' })
    expect(other.body.status).toBe('Requested')
    expect(repaired.status).toBe(204)
    expect(after.body.verbs.pay.event).toBe('paid')
    await host.stop()
  },
)

verifies(
  'schema.program.migration',
  'entities that a changed type of the program does not fit are reported at the start, and migrated by name',
  async () => {
    const before = program('before.ts', `{ Claim: noun('Claim', { amount: 'number!', size: 'string' }) }`)
    const first = await service({ config: before })
    const { body: claim } = await first.request('POST', '/~c/Claim', { amount: 5, size: '7' })
    const early = await first.request('POST', '/~c/schema/Claim/rename', { from: 'amount', to: 'total' })
    await first.stop()
    const said: string[] = []
    const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
    const after = program('after.ts', `{ Claim: noun('Claim', { total: 'number!', size: 'number' }) }`)
    const host = await service({ config: after })
    spy.mockRestore()

    const wrong = await host.request('POST', '/~c/schema/Claim/rename', { from: 'amont', to: 'total' })
    const renamed = await host.request('POST', '/~c/schema/Claim/rename', { from: 'amount', to: 'total' })
    const retyped = await host.request('POST', '/~c/schema/Claim/retype', { field: 'size', to: 'number' })
    const now = await host.request('GET', `/~c/Claim/${claim.$id}`)
    const back = await host.request('POST', `/~c/Claim/${claim.$id}/rollback`, { version: 1 })
    const plan = await host.request('POST', '/~c/schema/plan', {})
    await host.stop()

    expect(early.body.message).toContain("is a field of the operator's type: rename it in --config first")
    expect(said.join('')).toContain('The type Claim in --config does not fit entities of the tenant c: 1.')
    expect(said.join('')).toContain('size: must be a number')
    expect([wrong.status, renamed.body.migrated, retyped.body.migrated]).toEqual([422, 1, 1])
    expect(now.body).toMatchObject({ total: 5, size: 7 })
    expect(now.body).not.toHaveProperty('amount')
    expect(back.body).toMatchObject({ total: 5, size: 7 })
    expect(plan.body.others).toEqual([])
  },
)

test('a field of the program that got another name and another kind comes back in both', async () => {
  const data = join(folder, 'adopted')
  const first = await service({ config: program('long.ts', `{ Pipe: noun('Pipe', { long: 'string' }) }`), data })
  const { body: pipe } = await first.request('POST', '/~p/Pipe', { long: '5' })
  const { body: past } = await first.request('GET', '/~p/events')
  await first.stop()
  const host = await service({ config: program('length.ts', `{ Pipe: noun('Pipe', { length: 'number' }) }`), data })

  await host.request('POST', '/~p/schema/Pipe/rename', { from: 'long', to: 'length' })
  const { body: key } = await host.request('POST', '/~p/api-keys', {
    name: 'narrow',
    scopes: 'read:all',
    filter: { Pipe: { length: { $ne: 5 } } },
  })
  const { body: back } = await host.request('POST', `/~p/Pipe/${pipe.$id}/rollback`, { version: 1 })
  const hidden = await fetch(`${host.url}/~p/Pipe?asOf=${past.cursor}`, {
    headers: { authorization: `Bearer ${key.secret}` },
  })
  const { total } = (await hidden.json()) as { readonly total: number }
  await host.stop()

  expect(back).toMatchObject({ length: 5 })
  expect(back).not.toHaveProperty('long')
  expect([hidden.status, total]).toEqual([200, 0])
})

test('a program of hooks alone contradicts no tenant: they are opened when they are used', async () => {
  const types = program('dock.ts', `{ Dock: noun('Dock', { opensAt: 'datetime', open: { event: 'opened' } }) }`)
  const data = join(folder, 'hooks')
  const first = await service({ config: types, data })
  const $timers = { open: { at: 'opensAt', run: 'open' } }
  const { status } = await first.request('PUT', '/~h/schema/Dock', { $timers })
  await first.stop()
  const hooks = join(folder, 'hooks-alone.ts')
  writeFileSync(hooks, 'export const hooks = (on) => on.Contact.created(() => {})')
  const said: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)

  const host = await service({ config: hooks, data })
  const start = said.join('')
  await host.request('GET', '/~h/Contact')
  const after = said.join('')
  spy.mockRestore()
  await host.stop()

  expect(status).toBe(201)
  expect(start).not.toContain('tenant h')
  expect(after).toContain('The type Dock of h contradicts the program')
})

test('a type of the program with the name of a built-in one adds to it', async () => {
  const host = await service({ config: program('vip.ts', `{ Contact: noun('Contact', { vip: 'boolean' }) }`) })
  const { body: ada } = await host.request('POST', '/~a/Contact', { name: 'Ada', vip: true })
  const { status, body } = await host.request('POST', `/~a/Contact/${ada.$id}/qualify`)

  expect([status, body.stage, body.vip]).toEqual([200, 'Qualified', true])
  expect((await host.request('POST', '/~a/Contact', { name: 'Eve', vip: 'yes' })).status).toBe(422)
  await host.stop()
})

test('agents read of the types of the program first, with their fields', async () => {
  const notation = `{ name: 'string!', status: 'Planned | Afloat = Planned', launch: { set: { status: 'Afloat' } } }`
  const host = await service({ config: program('fleet.ts', `{ Ship: noun('Ship', ${notation}) }`) })

  const { body } = await host.request('POST', '/~d/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const types: string[] = body.result.tools[0].description
    .split('\n')
    .filter((line: string) => /^[A-Z]\w+: /.test(line))
  await host.stop()

  expect(types.length).toBeGreaterThan(1)
  expect(types[0]).toBe('Ship: name*, status(Planned|Afloat); verbs launch')
})
