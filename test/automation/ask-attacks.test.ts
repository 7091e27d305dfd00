import { afterAll, beforeAll, expect, test } from 'vitest'
import { hashOf, send as sendBytes } from '../content/content.ts'
import { type TestApp, testApp } from '../host.ts'
import { person } from '../people/people.ts'

let app: TestApp
beforeAll(async () => {
  app = await testApp({})
  await app.request('PUT', '/~asked/schema/roles/Clerk', {
    scopes: 'write:Lead,read:Contact',
    filter: { Contact: { region: 'north' } },
  })
})
afterAll(() => app.stop())

const at = (path: string) => `/~asked/${path}`

/** A person who is asked for fields by a workflow of an administrator, and the address of the question. */
async function asked(email: string, fields: Record<string, string>) {
  const clerk = await person(app, 'asked', { name: email, email, role: 'Clerk' })
  const steps = [{ ask: { of: clerk.user.$id, title: 'Which one?', fields } }]
  const { body: workflow } = await app.request('POST', at('Workflow'), {
    name: email,
    triggerEvent: 'Lead.created',
    steps,
  })
  await app.request('POST', at(`Workflow/${workflow.$id}/activate`))
  await app.request('POST', at('Lead'), { name: email })
  const question = async () => (await clerk.send('GET', at('asks'))).body.results[0]?.id
  await expect.poll(question, { timeout: 20_000 }).toBeTruthy()
  const id = await question()
  const answer = (given: unknown) =>
    clerk.send('POST', at(`asks/${id}/answer`), { answer: 'Approved', fields: { thing: given } })
  return { answer, status: async () => (await clerk.send('GET', at(`asks/${id}`))).body.status }
}

test('an answer names no file that the person may not read', async () => {
  const { body: asset } = await app.request('POST', at('Asset'), { name: 'hidden' })
  await sendBytes(app, 'POST', at(`Asset/${asset.$id}/file`), 'top secret')
  const { answer, status } = await asked('files@example.org', { thing: 'file' })
  const [hidden, none] = [hashOf('top secret'), hashOf('never sent')]

  const refused = await answer({ hash: hidden })
  const unknown = await answer({ hash: none })

  expect([refused.status, refused.body.field]).toEqual([422, 'fields.thing'])
  expect(refused.body.message).toBe(unknown.body.message.replace(none, hidden))
  expect(await status()).toBe('Open')
})

test('an answer refers to no entity that the person does not see', async () => {
  const { body: north } = await app.request('POST', at('Contact'), { name: 'Nora', region: 'north' })
  const { body: south } = await app.request('POST', at('Contact'), { name: 'Sue', region: 'south' })
  const { answer, status } = await asked('relations@example.org', { thing: '-> Contact' })
  const none = 'contact_0000000000000000'

  const refused = await answer(south.$id)
  const unknown = await answer(none)
  const open = await status()
  const taken = await answer(north.$id)

  expect([refused.status, refused.body.field]).toEqual([422, 'fields.thing'])
  expect(refused.body.message).toBe(unknown.body.message.replace(none, south.$id))
  expect([open, taken.status, taken.body.answer?.thing]).toEqual(['Open', 200, north.$id])
})

test('a question asks for no secret, because its answer is shown in the run', async () => {
  const steps = [{ ask: { of: 'role:Clerk', title: 'The password?', fields: { password: 'secret!' } } }]

  const { status, body } = await app.request('POST', at('Workflow'), {
    name: 'w',
    triggerEvent: 'Lead.created',
    steps,
  })

  expect([status, body.field]).toEqual([422, 'steps.0'])
  expect(body.message).toContain('ask.fields.password must not be a secret')
})
