import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

const run = async (code: string) => (await host.request('POST', '/~acme/do', { code })).body
const undo = (correlation: string) => host.request('POST', `/~acme/undo/${correlation}`)
const contact = async (fields: object) => (await host.request('POST', '/~acme/Contact', fields)).body
const read = async (id: string) => (await host.request('GET', `/~acme/Contact/${id}`)).body

test('what code created is deleted, what it changed is as before, what it deleted is back', async () => {
  const changed = await contact({ name: 'Ada', title: 'CEO' })
  const deleted = await contact({ name: 'Bob' })
  const { correlation, result } = await run(`
    const made = await $.Contact.create({ name: 'Cleo' })
    await $.Contact.update('${changed.$id}', { title: 'CTO' })
    await $.Contact.qualify('${changed.$id}')
    await $.Contact.delete('${deleted.$id}')
    made.$id`)

  const { status, body } = await undo(correlation)

  expect([status, body.undone]).toEqual([200, 4])
  expect((await read(result)).error).toBe('not_found')
  expect(await read(changed.$id)).toMatchObject({ title: 'CEO', stage: changed.stage, $version: 5 })
  expect(await read(deleted.$id)).toMatchObject({ name: 'Bob' })
})

test('an undo can be undone', async () => {
  const { correlation, result } = await run("(await $.Contact.create({ name: 'Dora' })).$id")
  const first = await undo(correlation)

  const second = await undo(first.body.correlation)

  expect(second.status).toBe(200)
  expect(await read(result)).toMatchObject({ name: 'Dora' })
})

test('the last change is taken back first, so that unique values find their way home', async () => {
  const a = await contact({ name: 'A', email: 'a@swap.example' })
  const b = await contact({ name: 'B', email: 'b@swap.example' })
  const { correlation } = await run(`
    await $.Contact.update('${a.$id}', { email: 'c@swap.example' })
    await $.Contact.update('${b.$id}', { email: 'a@swap.example' })
    await $.Contact.update('${a.$id}', { email: 'b@swap.example' })`)

  expect((await undo(correlation)).status).toBe(200)
  expect((await read(a.$id)).email).toBe('a@swap.example')
  expect((await read(b.$id)).email).toBe('b@swap.example')
})

test('nothing is undone when something was edited later, and what is listed', async () => {
  const one = await contact({ name: 'One' })
  const two = await contact({ name: 'Two' })
  const { correlation } = await run(
    `await $.Contact.update('${one.$id}', { title: 'x' }); await $.Contact.update('${two.$id}', { title: 'x' })`,
  )
  await host.request('PUT', `/~acme/Contact/${two.$id}`, { title: 'y' })

  const { status, body } = await undo(correlation)

  expect([status, body.error]).toEqual([409, 'conflict'])
  expect(body.details).toEqual([{ type: 'Contact', id: two.$id, message: 'was edited later' }])
  expect((await read(one.$id)).title).toBe('x')
})

test('a batch is undone by its correlation', async () => {
  const { body: batch } = await host.request('POST', '/~acme/batch', {
    operations: [
      { id: 'a', method: 'POST', path: '/Contact', body: { name: 'Batch' } },
      { id: 'b', method: 'PUT', path: '/Contact/${a.$id}', body: { title: 'x' } },
    ],
  })

  expect((await undo(batch.correlation)).body.undone).toBe(2)
  expect((await read(batch.results[0].body.$id)).error).toBe('not_found')
})

test('tracked events stay: what happened has happened', async () => {
  const { correlation } = await run(
    "await $.Event.create({ name: 'seen', type: 'track' }); await $.Contact.create({ name: 'E' })",
  )

  expect((await undo(correlation)).body).toMatchObject({ undone: 1, kept: [expect.stringMatching(/^event_/)] })
})

test('a revoked key stays revoked, and nothing else is undone either', async () => {
  const { correlation } = await run(`
    const key = await $.ApiKey.create({ name: 'k', scopes: 'read:crm' })
    await $.ApiKey.revoke(key.$id)`)

  const { status, body } = await undo(correlation)

  expect(status).toBe(409)
  expect(body.message).toContain('ApiKey.revoked cannot be undone')
})

test('a dry run of an undo tells the events and writes nothing', async () => {
  const { correlation, result } = await run("(await $.Contact.create({ name: 'Fay' })).$id")

  const { body } = await host.request('POST', `/~acme/undo/${correlation}?dryRun=true`)

  expect(body.events.map((event: { type: string }) => event.type)).toEqual(['Contact.deleted'])
  expect((await read(result)).name).toBe('Fay')
})

test('an unknown correlation is not found, and a key must be allowed to write what it takes back', async () => {
  const reader = await host.key('acme', 'read:all')
  const { correlation } = await run("await $.Contact.create({ name: 'Gil' })")

  expect((await undo('do_nothing')).status).toBe(404)
  expect((await host.as(reader)('POST', `/~acme/undo/${correlation}`)).status).toBe(403)
})

test('whatever code does, undoing it gives back the same list', async () => {
  const step = fc.record({
    verb: fc.constantFrom('create', 'update', 'qualify', 'delete'),
    at: fc.nat(5),
    title: fc.constantFrom('a', 'b', 'c'),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.uuid(), async (steps, uuid) => {
      const tenant = `t${uuid.slice(0, 8)}`
      for (const name of ['A', 'B', 'C']) await host.request('POST', `/~${tenant}/Contact`, { name })
      const before = await fields(tenant)
      const code = `
        const ids = (await $.Contact.find()).map((c: any) => c.$id)
        for (const { verb, at, title } of ${JSON.stringify(steps)}) {
          const id = ids[at % ids.length]
          try {
            if (verb === 'create') ids.push((await $.Contact.create({ name: title })).$id)
            else if (verb === 'update') await $.Contact.update(id, { title })
            else if (verb === 'qualify') await $.Contact.qualify(id)
            else await $.Contact.delete(id)
          } catch {}
        }`
      const { body } = await host.request('POST', `/~${tenant}/do`, { code })
      if (body.correlation === null) return

      await host.request('POST', `/~${tenant}/undo/${body.correlation}`)

      expect(await fields(tenant)).toEqual(before)
    }),
    { numRuns: 15 },
  )
})

type Fields = { $id: string; name: string; title?: string; stage?: string }

async function fields(tenant: string): Promise<Fields[]> {
  const { body } = await host.request('GET', `/~${tenant}/Contact?sort=name`)
  return body.results.map(({ $id, name, title, stage }: Fields) => ({ $id, name, title, stage }))
}
