import { type Catalogue, type Entity, type JsonObject, type NounMap, noun } from '@tildebase/nouns'
import { expect, expectTypeOf, test } from 'vitest'
import { type Page, Problem, type Tildebase, type Types, tildebase, verifyWebhook } from '../index.ts'

const Boat = noun('Boat', {
  $domain: 'custom',
  name: 'string!',
  length: 'number',
  owner: '-> Contact.boats',
  launch: { event: 'launched', args: ['harbour'] },
})
const $ = tildebase({ tenant: 'acme', apiKey: 'tb_x', nouns: { Boat } })
type Contact = Entity<Catalogue['Contact']>

// The type checker checks this function; it never runs.
export async function compiled() {
  expectTypeOf(await $.Contact.find()).toEqualTypeOf<Page<Contact>>()
  expectTypeOf(await $.Contact.findOne({ stage: 'Lead' })).toEqualTypeOf<Contact | null>()
  expectTypeOf(await $.Contact.count({ 'organization.name': { $regex: '^A' } })).toEqualTypeOf<number>()
  expectTypeOf((await $.Contact.find({}, { sort: { name: 1, $createdAt: -1 } })).total).toEqualTypeOf<
    number | undefined
  >()
  for await (const contact of $.Contact.all({ stage: 'Lead' })) expectTypeOf(contact).toEqualTypeOf<Contact>()

  // A filter knows the fields and their words.
  // @ts-expect-error Gone is not a stage
  await $.Contact.find({ stage: 'Gone' })
  // @ts-expect-error nmae is not a field
  await $.Contact.find({ nmae: 'Ada' })
  // @ts-expect-error a contact cannot be sorted by an unknown field
  await $.Contact.find({}, { sort: { nmae: 1 } })
  // @ts-expect-error name is not a relation
  await $.Contact.find({}, { include: ['name'] })
  // @ts-expect-error there is no such type
  await $.Contactt.find()

  // Included relations are entities, relations to many are arrays, also nested.
  const included = await $.Contact.get('contact_1', { include: ['organization', 'deals.organization'] })
  expectTypeOf(included!.organization!.name).toEqualTypeOf<string>()
  expectTypeOf(included!.deals[0]!.organization!.$type).toEqualTypeOf<'Organization'>()
  expectTypeOf(included!.name).toEqualTypeOf<string>()
  const plain = await $.Contact.get('contact_1')
  expectTypeOf(plain!.organization).toEqualTypeOf<string | null | undefined>()

  // Only the fields that were asked for are there.
  const [some] = await $.Contact.find({}, { fields: ['name'] })
  expectTypeOf(some!).toEqualTypeOf<Pick<Contact, 'name' | '$id' | '$type'>>()
  // @ts-expect-error email was not asked for
  some!.email

  // Drafts, patches and verbs.
  await $.Contact.create({ name: 'Ada' })
  // @ts-expect-error a contact has a name
  await $.Contact.create({ email: 'ada@example.com' })
  await $.Contact.update('contact_1', { email: null })
  // @ts-expect-error a name cannot be cleared
  await $.Contact.update('contact_1', { name: null })
  // After a verb, the state is known.
  expectTypeOf((await $.Contact.qualify('contact_1')).stage).toEqualTypeOf<'Qualified'>()
  expectTypeOf(await $.Contact.qualify('contact_1')).toExtend<Contact>()
  // @ts-expect-error contacts are not won
  await $.Contact.win('contact_1')
  await $.Contact.rollback('contact_1', { asOf: new Date() })
  // @ts-expect-error events stay as they are
  await $.Event.update('event_1', {})
  expectTypeOf((await $.ApiKey.create({ name: 'ci' })).secret).toEqualTypeOf<string | undefined>()
  // @ts-expect-error only keys and webhooks have a secret
  ;(await $.Contact.create({ name: 'Ada' })).secret

  // The tenant's own types, and what they point to.
  await $.Boat.create({ name: 'Beagle', owner: 'contact_1' })
  await $.Boat.launch('boat_1', { harbour: 'Devonport' })
  const boat = await $.Boat.findOne({ 'owner.stage': 'Lead' }, { include: ['owner'] })
  expectTypeOf(boat!.owner!.name).toEqualTypeOf<string>()
  // @ts-expect-error a length is a number
  await $.Boat.create({ name: 'Beagle', length: '27 m' })

  // A batch takes references where it takes values of that kind.
  const done = await $.batch((b) => {
    const ada = b.Contact.create({ name: 'Ada' })
    b.Deal.create({ name: 'Engine', contact: ada.$id })
    b.Contact.qualify(ada.$id)
    b.Contact.update(ada.$id, { title: ada.name })
    // @ts-expect-error a version is not a name
    b.Contact.create({ name: ada.$version })
    // @ts-expect-error a deal has a name
    b.Deal.create({ contact: ada.$id })
    return ada
  })
  expectTypeOf(done.results[0]!.status).toEqualTypeOf<number>()

  // An event is known by its name.
  for (const { type, data, verb } of await $.events.list({ type: 'Boat.launched' })) {
    expectTypeOf(type).toEqualTypeOf<'Boat.launched'>()
    expectTypeOf(data.length).toEqualTypeOf<number | null | undefined>()
    // @ts-expect-error boats are not qualified
    verb === 'qualify'
  }
  for await (const { type, data } of $.events.stream({ type: 'Contact' })) {
    if (type === 'Contact.qualified') expectTypeOf(data.stage).toEqualTypeOf<Contact['stage']>()
    // @ts-expect-error contacts are not launched
    if (type === 'Contact.launched') return
  }
  for await (const event of $.events.stream({ type: '*.created' })) {
    if (event.type === 'Contact.created') expectTypeOf(event.data).toEqualTypeOf<Contact>()
    // @ts-expect-error only what is created comes
    if (event.type === 'Contact.qualified') return
  }
  for await (const event of $.events.stream()) {
    if (event.type === 'Boat.launched') expectTypeOf(event.data.length).toEqualTypeOf<number | null | undefined>()
    if (event.type === 'Changeset.proposed') expectTypeOf(event.data.$type).toEqualTypeOf<'Changeset'>()
    // @ts-expect-error there is no such event
    if (event.type === 'Contact.creatd') return
  }
  const event = await $.webhooks.verify(new Request('http://x'), 'whsec_x')
  if (event.type === 'Boat.created') expectTypeOf(event.data.name).toEqualTypeOf<string>()
  const alone = await verifyWebhook<Types<{ Boat: typeof Boat }>>(new Request('http://x'), 'whsec_x')
  if (alone.type === 'Contact.qualified') expectTypeOf(alone.data).toEqualTypeOf<Contact>()
  expectTypeOf((await verifyWebhook(new Request('http://x'), 'whsec_x')).data).toEqualTypeOf<JsonObject>()

  // Patterns of events are checked wherever they are stored.
  await $.Webhook.create({ url: 'https://x.example', events: ['Boat.launched', 'Contact.*', '*.created', '*'] })
  // @ts-expect-error there is no such event
  await $.Webhook.create({ url: 'https://x.example', events: ['Boat.launchd'] })
  await $.Workflow.create({ name: 'w', triggerEvent: 'Boat.launched' })
  // @ts-expect-error there is no such event
  await $.Workflow.create({ name: 'w', triggerEvent: 'Boat.launchd' })
  // @ts-expect-error there is no such event
  $.events.stream({ type: 'Boat.launchd' })

  // Fields with a default always have a value.
  expectTypeOf<Contact['stage']>().toEqualTypeOf<'Lead' | 'Qualified' | 'Customer' | 'Churned' | 'Partner'>()
  // @ts-expect-error a stage cannot be cleared
  await $.Contact.update('contact_1', { stage: null })

  // Groups have the fields and measures that were asked for.
  const [group] = await $.Deal.aggregate({ group: ['stage', 'contact.name'], sum: ['value'], max: ['$createdAt'] })
  expectTypeOf(group!.stage).toEqualTypeOf<Entity<Catalogue['Deal']>['stage'] | null>()
  expectTypeOf(group!['contact.name']).toEqualTypeOf<string | null>()
  expectTypeOf(group!.sum.value).toEqualTypeOf<number>()
  expectTypeOf(group!.max.$createdAt).toEqualTypeOf<string | null>()
  // @ts-expect-error names have no sum
  await $.Deal.aggregate({ sum: ['name'] })
  // @ts-expect-error nmae is not a field
  await $.Deal.aggregate({ group: ['nmae'] })
  // @ts-expect-error avg was not asked for
  group!.avg

  // Live lists are pages of what find gives.
  for await (const list of $.Contact.live({ stage: 'Lead' }, { include: ['organization'] })) {
    expectTypeOf(list[0]!.organization!.name).toEqualTypeOf<string>()
    expectTypeOf(list.total).toEqualTypeOf<number | undefined>()
  }
  // @ts-expect-error a live list shows the present
  $.Contact.live({}, { asOf: new Date() })

  // An upsert needs what a create needs, in either part.
  expectTypeOf(await $.Contact.upsert({ email: 'a@b.c' }, { name: 'Ada' })).toEqualTypeOf<Contact>()
  // @ts-expect-error a contact has a name
  await $.Contact.upsert({ email: 'a@b.c' }, { title: 'x' })
  // @ts-expect-error events stay as they are
  await $.Event.upsert({ name: 'x' }, {})

  // Verbs answer more than the entity.
  expectTypeOf((await $.User.invite('user_1')).invitation).toEqualTypeOf<string | undefined>()
  expectTypeOf((await $.ApiKey.revoke('apiKey_1')).made.webhooks).toEqualTypeOf<readonly string[]>()
  expectTypeOf((await $.Funnel.analyze('funnel_1')).analysis.conversionRate).toEqualTypeOf<number | null>()
  expectTypeOf((await $.undo('x')).undone).toEqualTypeOf<number>()

  // Codes of problems are known words.
  const problem = new Problem('conflict', 'x')
  // @ts-expect-error there is no such code
  if (problem.code === 'version_mismach') return

  // Without knowing the types, everything is allowed.
  const loose = $ as unknown as Tildebase<NounMap>
  await loose.Whatever!.find({ anything: 1 })
  await loose.Whatever!.frobnicate!('whatever_1', { x: 1 })
}

test('the namespace of the tenant is set when the client is initialised', () => {
  expect($.$context).toBe('http://localhost:8787/~acme')
})
