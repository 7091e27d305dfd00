import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

/** Hooks of the operator: one awaits its writes, one does not. */
const CONFIG = `
export function hooks({ Contact, Organization }) {
  Contact.created(async (contact, $) => {
    const deal = await $.Deal.create({ name: 'of ' + contact.name, contact: contact.$id })
    await $.Activity.create({ subject: 'call about ' + deal.name, deal: deal.$id })
  })
  Organization.created((organization, $) => {
    $.Deal.create({ name: 'of ' + organization.name })
  })
}
`

let host: TestApp
const folder = mkdtempSync(join(tmpdir(), 'tildebase-own-'))
beforeAll(async () => {
  writeFileSync(join(folder, 'hooks.mjs'), CONFIG)
  host = await testApp({}, { config: join(folder, 'hooks.mjs') })
})
afterAll(async () => {
  await host.stop()
  rmSync(folder, { recursive: true, force: true })
})

test.each(['with', 'without'])('hooks of the operator write to a type %s a stored hook', async (stored) => {
  const at = (path: string) => `/~${stored}${path}`
  if (stored === 'with') {
    const code = '(deal) => ({ name: deal.name.toUpperCase() })'
    expect((await host.request('PUT', at('/schema/Deal/hooks/creating'), { code })).status).toBe(201)
  }
  const names = async (type: string) =>
    (await host.request('GET', at(`/${type}`))).body.results.map((one: any) => one.name ?? one.subject).sort()

  await host.request('POST', at('/Contact'), { name: 'Ada' })
  await host.request('POST', at('/Organization'), { name: 'Acme' })

  const told = (name: string) => (stored === 'with' ? name.toUpperCase() : name)
  await expect.poll(() => names('Deal'), { timeout: 30_000 }).toEqual([told('of Acme'), told('of Ada')])
  await expect.poll(() => names('Activity'), { timeout: 30_000 }).toEqual([`call about ${told('of Ada')}`])
})

test('what a hook of the operator writes is undone with its cause', async () => {
  const { body } = await host.request('POST', '/~undone/do', { code: "await $.Organization.create({ name: 'Acme' })" })
  const count = async () => (await host.request('GET', '/~undone/Deal/count')).body.count
  await expect.poll(count, { timeout: 30_000 }).toBe(1)

  expect((await host.request('POST', `/~undone/undo/${body.correlation}`)).body.undone).toBe(2)
  expect(await count()).toBe(0)
})
