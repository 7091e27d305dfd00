import { describe, expect, test } from 'vitest'
import { verifies } from '../verifies.ts'
import { useTypes } from './use-types.ts'

const types = useTypes()
const { sent, made } = types

const state = async (type: string, id: string) => (await sent('GET', `/~acme/${type}/${id}`)).body

describe('Contact.merge', () => {
  verifies('contact.merge', 'moves all references, fills empty fields and deletes the source', async () => {
    await sent('PUT', '/~acme/schema/Team', { name: 'string', members: '-> Contact[]', lead: '-> Contact' })
    const organization = await made('Organization', { name: 'O' })
    const source = await made('Contact', {
      name: 'Ada L.',
      email: 'ada@example.org',
      phone: '1',
      organization,
      nick: 'a',
    })
    const target = await made('Contact', { name: 'Ada', phone: '2', manager: source })
    const deal = await made('Deal', { name: 'D', contact: source, owner: source })
    const ticket = await made('Ticket', { subject: 'T', requester: source })
    const team = await made('Team', { members: [source, target], lead: source })

    const { status, body, headers } = await sent('POST', `/~acme/Contact/${source}/merge`, { into: target })

    expect([status, body.$id]).toEqual([200, target])
    expect(body).toMatchObject({ name: 'Ada', email: 'ada@example.org', phone: '2', organization, nick: 'a' })
    expect(body.manager ?? null).toBeNull()
    expect(await state('Deal', deal)).toMatchObject({ contact: target, owner: target })
    expect(await state('Ticket', ticket)).toMatchObject({ requester: target })
    expect(await state('Team', team)).toMatchObject({ members: [target], lead: target })
    expect((await sent('GET', `/~acme/Contact/${source}`)).status).toBe(404)
    const { body: past } = await sent('GET', `/~acme/Contact/${source}/history`)
    expect(past.results.map((one: any) => one.event)).toEqual(['deleted', 'merged', 'created'])
    expect(past.results[1].args).toEqual({ into: target })
    expect(past.results[1].correlation).toBe(headers.get('x-tilde-correlation'))
  })

  verifies('contact.merge.undo', 'is taken back by undo, all of it', async () => {
    const source = await made('Contact', { name: 'S', email: 's@example.org' })
    const target = await made('Contact', { name: 'T' })
    const deal = await made('Deal', { name: 'D', contact: source })
    const { headers } = await sent('POST', `/~acme/Contact/${source}/merge`, { into: target })

    const undone = await sent('POST', `/~acme/undo/${headers.get('x-tilde-correlation')}`)

    expect(undone.status).toBe(200)
    expect(await state('Contact', source)).toMatchObject({ name: 'S', email: 's@example.org' })
    expect((await state('Contact', target)).email).toBeUndefined()
    expect(await state('Deal', deal)).toMatchObject({ contact: source })
  })

  test('is refused without another Contact, or without the rights on what refers to it, and changes nothing', async () => {
    const source = await made('Contact', { name: 'S' })
    const target = await made('Contact', { name: 'T' })
    await made('Ticket', { subject: 'T', requester: source })
    const crm = types.host.as(await types.host.key('acme', 'write:crm'))
    const narrow = types.host.as(
      await types.host.key('acme', 'write:all', { filter: { Ticket: { subject: 'other' } } }),
    )

    const refused = [
      await sent('POST', `/~acme/Contact/${source}/merge`),
      await sent('POST', `/~acme/Contact/${source}/merge`, { into: source }),
      await sent('POST', `/~acme/Contact/${source}/merge`, { into: 'contact_0000000000000000000' }),
      await crm('POST', `/~acme/Contact/${source}/merge`, { into: target }),
      await narrow('POST', `/~acme/Contact/${source}/merge`, { into: target }),
    ]

    expect(refused.map(({ status, body }) => [status, body.field])).toEqual([
      [422, 'into'],
      [422, 'into'],
      [422, 'into'],
      [403, undefined],
      [403, undefined],
    ])
    expect(refused[4]!.body.message).not.toContain('ticket_')
    expect((await state('Contact', source)).$version).toBe(1)
  })
})

describe('Lead.convert', () => {
  verifies('lead.convert', 'creates or links the organization, the contact and the deal', async () => {
    const lead = await made('Lead', { name: 'Analytical Engines', source: 'fair' })
    const contact = await made('Contact', { name: 'Ada' })

    const { status, body } = await sent('POST', `/~acme/Lead/${lead}/convert`, {
      organization: { industry: 'computing' },
      contact,
      deal: { value: 100 },
    })

    expect([status, body.status, body.contact]).toEqual([200, 'Converted', contact])
    expect(await state('Organization', body.organization)).toMatchObject({
      name: 'Analytical Engines',
      industry: 'computing',
    })
    expect(await state('Deal', body.deal)).toMatchObject({
      name: 'Analytical Engines',
      value: 100,
      contact,
      organization: body.organization,
      source: 'fair',
    })
    const { body: past } = await sent('GET', `/~acme/Lead/${lead}/history`)
    expect(past.results[0]).toMatchObject({ event: 'converted', args: { contact, deal: { value: 100 } } })
  })

  verifies('lead.convert.own', 'keeps what the lead has, and creates nothing when it is refused', async () => {
    const organization = await made('Organization', { name: 'O' })
    const own = await made('Lead', { name: 'L', organization })
    const lost = await made('Lead', { name: 'M', status: 'Lost' })
    const { body: before } = await sent('GET', '/~acme/Deal/count')

    const kept = await sent('POST', `/~acme/Lead/${own}/convert`)
    const refused = [
      await sent('POST', `/~acme/Lead/${lost}/convert`, { deal: { name: 'D' } }),
      await sent('POST', `/~acme/Lead/${own}/convert`, { deal: { name: 'D' } }),
      await sent('POST', `/~acme/Lead/${await made('Lead', { name: 'N' })}/convert`, {
        deal: { name: 'D' },
        contact: 5,
      }),
      await sent('POST', `/~acme/Lead/${await made('Lead', { name: 'P' })}/convert`, {
        deal: {},
        contact: 'contact_00',
      }),
    ]

    expect(kept.body).toMatchObject({ organization, status: 'Converted' })
    expect(kept.body.deal ?? null).toBeNull()
    expect(refused.map(({ status }) => status)).toEqual([409, 409, 422, 422])
    expect((await sent('GET', '/~acme/Deal/count')).body).toEqual(before)
  })
})

verifies('form.submissions', 'Form.submit keeps each submission, and the form as it is', async () => {
  const form = await made('Form', { name: 'Contact us', status: 'Published' })
  for (const name of ['Ada', 'Bob', 'Cem']) {
    const { body } = await sent('POST', `/~acme/Form/${form}/submit`, { name, answers: { newsletter: true } })
    expect(body.name).toBe('Contact us')
  }

  const first = await sent('GET', `/~acme/forms/${form}/submissions?limit=2`)
  const second = await sent('GET', `/~acme/Form/${form}/submissions?limit=2&cursor=${first.body.cursor}`)
  const other = await sent('GET', '/~acme/Form/form_nothing/submissions')
  const outside = await types.host.as(await types.host.key('acme', 'read:crm'))(
    'GET',
    `/~acme/Form/${form}/submissions`,
  )

  expect(first.body).toMatchObject({ total: 3, hasMore: true })
  expect(first.body.results.map((one: any) => one.data.name)).toEqual(['Cem', 'Bob'])
  expect(second.body.results).toMatchObject([
    { actor: 'operator', data: { name: 'Ada', answers: { newsletter: true } } },
  ])
  expect(second.body).toMatchObject({ hasMore: false, cursor: null })
  expect([other.status, outside.status]).toEqual([404, 403])
  expect((await state('Form', form)).submissionCount).toBe(3)
})

test('a narrowed key sees the submissions of a form while it could see the form', async () => {
  const form = await made('Form', { name: 'F', status: 'Published', description: 'theirs' })
  await sent('POST', `/~acme/Form/${form}/submit`, { name: 'Hidden' })
  await sent('PUT', `/~acme/Form/${form}`, { description: 'mine' })
  await sent('POST', `/~acme/Form/${form}/submit`, { name: 'Seen' })
  const key = await types.host.key('acme', 'read:all', { filter: { Form: { description: 'mine' } } })

  const { body, text } = await types.host.as(key)('GET', `/~acme/Form/${form}/submissions?limit=1`)

  expect(body).toMatchObject({ total: 1, hasMore: false, results: [{ data: { name: 'Seen' } }] })
  expect(text).not.toContain('Hidden')
})

describe('an Invoice', () => {
  const lineItems = [{ quantity: 3, unitPrice: 0.1, taxRate: 20 }, { unitPrice: 10 }]
  let number = 0
  const invoice = (fields: object) => made('Invoice', { number: String(++number), ...fields })

  verifies('invoice.totals', 'adds up its lines, its discount and its tax, unless they are given', async () => {
    const id = await invoice({ lineItems, discount: 0.3, amountPaid: 1 })
    expect(await state('Invoice', id)).toMatchObject({ subtotal: 10.3, tax: 0.06, total: 10.06, amountDue: 9.06 })

    await sent('PUT', `/~acme/Invoice/${id}`, { amountPaid: 10.06 })
    expect(await state('Invoice', id)).toMatchObject({ total: 10.06, amountDue: 0 })
    await sent('PUT', `/~acme/Invoice/${id}`, { lineItems: [{ unitPrice: 20 }], discount: null })
    expect(await state('Invoice', id)).toMatchObject({ subtotal: 20, tax: 0, total: 20, amountDue: 9.94 })
  })

  verifies('invoice.given', 'keeps totals that were given', async () => {
    const id = await invoice({ lineItems, total: 99 })
    const plain = await invoice({ total: 7 })

    await sent('PUT', `/~acme/Invoice/${id}`, { lineItems: [{ unitPrice: 1 }] })

    expect(await state('Invoice', id)).toMatchObject({ subtotal: 1, total: 99, amountDue: 99 })
    expect((await state('Invoice', plain)).amountDue).toBeUndefined()
    const { body } = await sent('PUT', `/~acme/Invoice/${id}`, { total: 5 })
    expect(body).toMatchObject({ total: 5, amountDue: 5 })
  })

  verifies('invoice.totals', 'a given total that is cleared with null follows the lines again', async () => {
    const id = await invoice({ lineItems: [{ quantity: 3, unitPrice: 10 }], total: 50, amountDue: null })
    expect(await state('Invoice', id)).toMatchObject({ subtotal: 30, total: 50, amountDue: 50 })

    await sent('PUT', `/~acme/Invoice/${id}`, { total: null })

    expect(await state('Invoice', id)).toMatchObject({ subtotal: 30, total: 30, amountDue: 30 })
  })
})

verifies(
  'subscription.cancel',
  'a Subscription cancelled at the end of its period keeps its status until then',
  async () => {
    const id = await made('Subscription', { currentPeriodEnd: '2030-01-01' })
    const other = await made('Subscription', {})

    const later = await sent('POST', `/~acme/Subscription/${id}/cancel`, {
      cancelAtPeriodEnd: true,
      cancelReason: 'price',
    })
    const now = await sent('POST', `/~acme/Subscription/${other}/cancel`)
    const ended = await sent('POST', `/~acme/Subscription/${id}/end`)

    expect(later.body).toMatchObject({ status: 'Active', cancelAtPeriodEnd: true, cancelReason: 'price' })
    expect(later.body.canceledAt).toBeDefined()
    expect(now.body.status).toBe('Cancelled')
    expect(ended.body).toMatchObject({ status: 'Cancelled', endedAt: ended.body.$updatedAt })
  },
)
