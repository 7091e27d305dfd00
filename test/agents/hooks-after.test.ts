import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ask, startServer } from '../faults/server.ts'
import type { TestHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { type HookHost, hookHost } from './hook-host.ts'

let host: TestHost
let tenantWith: HookHost['tenantWith']
beforeAll(async () => {
  ;({ host, tenantWith } = await hookHost())
})
afterAll(() => host.stop())

describe('after a verb', () => {
  verifies(
    ['hook.after.durable', 'hook.after.context'],
    'a hook writes under its own name, and is undone with the cause',
    async () => {
      const { request } = await tenantWith({
        'Contact.created':
          'async (contact, $, event) => { await $.Organization.create({ name: `${event.type} ${contact.name}` }) }',
      })

      const did = await request('POST', '/do', { code: "await $.Contact.create({ name: 'Ada' })" })
      const made = await until(async () => (await request('GET', '/Organization')).body.results[0])

      expect(made).toMatchObject({ name: 'Contact.created Ada', $createdBy: 'hook:Contact.created' })
      expect((await request('POST', `/undo/${did.body.correlation}`)).body.undone).toBe(2)
    },
  )

  verifies(
    ['hook.after.failure', 'hook.after.retry'],
    'a failure is recorded, never undoes the verb, and is tried again',
    async () => {
      const { request } = await tenantWith({
        'Contact.created': `async (contact, $) => {
          if ((await $.Organization.count()) === 0) throw new Error('nobody yet')
          await $.Contact.update(contact.$id, { title: 'done' })
        }`,
      })

      const { body } = await request('POST', '/Contact', { name: 'Ada' })
      const failed = await until(async () => {
        const { failures } = (await request('GET', '/schema/Contact/hooks/created')).body
        return failures[0]
      })
      await request('POST', '/Organization', { name: 'now' })
      const after = await until(async () => {
        const contact = (await request('GET', `/Contact/${body.$id}`)).body
        return contact.title === 'done' && contact
      })

      expect(failed).toMatchObject({ error: expect.stringContaining('nobody yet'), next: expect.any(String) })
      expect(after.$version).toBe(2)
      await until(async () => (await request('GET', '/schema/Contact/hooks/created')).body.failures.length === 0)
    },
  )

  test('a loop of hooks ends and is recorded', async () => {
    const { request } = await tenantWith({
      'Organization.created':
        'async (organization, $) => { await $.Organization.create({ name: organization.name + "+" }) }',
    })

    await request('POST', '/Organization', { name: 't' })
    const stopped = await until(
      async () => (await request('GET', '/schema/Organization/hooks/created')).body.failures[0],
    )

    expect(stopped).toMatchObject({ error: expect.stringContaining('loop'), next: null })
    expect((await request('GET', '/Organization/count')).body.count).toBe(7)
  })

  test('what a hook after a verb writes meets the hook before another', async () => {
    const { request } = await tenantWith({
      'Contact.created': 'async (contact, $) => { await $.Organization.create({ name: contact.name }) }',
      'Organization.creating': '(organization) => ({ name: organization.name.toUpperCase() })',
    })

    await request('POST', '/Contact', { name: 'ada' })

    expect((await until(async () => (await request('GET', '/Organization')).body.results[0])).name).toBe('ADA')
  })

  verifies('hook.after.crash', 'a crash between the verb and its hook does not lose the hook', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-hooks-'))
    try {
      const first = await startServer(data)
      await ask(first.url, 'PUT', '/~acme/schema/Contact/hooks/created', {
        code: 'async (contact, $) => { await $.Organization.create({ name: contact.name }) }',
      })
      await ask(first.url, 'POST', '/~acme/Contact', { name: 'Ada' })
      await first.kill()

      const second = await startServer(data)
      const made = await until(async () => {
        const { body } = (await ask(second.url, 'GET', '/~acme/Organization'))!
        return body.total > 0 && body
      })
      await second.kill()

      expect(made.results[0].name).toBe('Ada')
    } finally {
      rmSync(data, { recursive: true, force: true })
    }
  })
})

/** What comes to be seen, sooner or later. */
async function until<T>(look: () => Promise<T | undefined | false>): Promise<T> {
  for (const end = Date.now() + 40_000; Date.now() < end; ) {
    const seen = await look()
    if (seen) return seen
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error('It did not come to pass.')
}
