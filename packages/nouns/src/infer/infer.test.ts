import { expect, expectTypeOf, test } from 'vitest'
import type { Catalogue } from '../catalogue/index.ts'
import { noun } from '../notation/notation.ts'
import type { Json, Noun } from '../noun.ts'
import type { Draft, Entity, EventName, Patch, VerbArgs, VerbName } from './infer.ts'
import type { Include, SortField, Where } from './infer-where.ts'

const Thing = noun('Thing', {
  $domain: 'crm',
  name: 'string!',
  code: 'string!## (set by the service)',
  size: 'number',
  open: 'boolean = true',
  made: 'datetime! = now',
  stage: 'Lead | In Progress | Done = Lead',
  tags: 'string[]!',
  more: 'json',
  key: 'secret',
  owner: '-> Contact.things!',
  friends: '-> Contact[]',
  parts: '<- Part.thing[]',
  score: 'number 0..100!',
  worth: '= size * score',
  last: '= max(parts.made)',
  $unique: [['name', 'size']],
  $timers: { due: { at: 'made', run: 'send' } },
  $guarded: true,
  ask: { args: 'question', keeps: 'event' },
  send: { event: 'sent', from: 'Lead', set: { stage: 'Done' }, args: ['size', 'speed'] },
  delete: null,
})
type T = typeof Thing

// An entity has its meta-fields, its required fields, and optional ones; no secrets and no inverse relations.
expectTypeOf<Entity<T>['$type']>().toEqualTypeOf<'Thing'>()
expectTypeOf<Entity<T>['$version']>().toEqualTypeOf<number>()
expectTypeOf<Entity<T>['name']>().toEqualTypeOf<string>()
expectTypeOf<Entity<T>['code']>().toEqualTypeOf<string>()
expectTypeOf<Entity<T>['made']>().toEqualTypeOf<string>()
expectTypeOf<Entity<T>['size']>().toEqualTypeOf<number | null | undefined>()
expectTypeOf<Entity<T>['open']>().toEqualTypeOf<boolean>()
expectTypeOf<Entity<T>['stage']>().toEqualTypeOf<'Lead' | 'In Progress' | 'Done'>()
expectTypeOf<Entity<T>['tags']>().toEqualTypeOf<readonly string[]>()
expectTypeOf<Entity<T>['more']>().toEqualTypeOf<Json | undefined>()
expectTypeOf<Entity<T>['owner']>().toEqualTypeOf<string>()
expectTypeOf<Entity<T>['friends']>().toEqualTypeOf<readonly string[] | null | undefined>()
expectTypeOf<Entity<T>>().not.toHaveProperty('key')
expectTypeOf<Entity<T>>().not.toHaveProperty('parts')
expectTypeOf<Entity<T>>().not.toHaveProperty('send')
expectTypeOf<Entity<T>>().not.toHaveProperty('$domain')

expectTypeOf<Entity<T>['score']>().toEqualTypeOf<number>()
expectTypeOf<Entity<T>['worth']>().toEqualTypeOf<number | null | undefined>()
expectTypeOf<Entity<T>['last']>().toEqualTypeOf<number | string | boolean | null | undefined>()
expectTypeOf<Draft<T>>().not.toHaveProperty('worth')
expectTypeOf<VerbArgs<T, 'ask'>>().toEqualTypeOf<{ readonly [argument: string]: unknown }>()

// A draft must contain required fields without a default.
const whole: Draft<T> = { name: 'a', tags: [], owner: 'contact_1', score: 1 }
const full: Draft<T> = {
  ...whole,
  size: 1,
  stage: 'In Progress',
  key: 'k',
  more: { a: [1] },
  made: '2026-01-01',
  friends: null,
}
// @ts-expect-error owner is required
const lacking: Draft<T> = { name: 'a', tags: [] }
// @ts-expect-error Gone is not a value of stage
const wrongWord: Draft<T> = { ...whole, stage: 'Gone' }
// @ts-expect-error the service sets code
const service: Draft<T> = { name: 'a', tags: [], owner: 'contact_1', code: 'x' }
// @ts-expect-error parts is an inverse relation
const back: Draft<T> = { name: 'a', tags: [], owner: 'contact_1', parts: [] }
// @ts-expect-error nmae is not a field
const typo: Draft<T> = { name: 'a', tags: [], owner: 'contact_1', nmae: 'b' }

// A patch changes some fields and clears those that an entity can be without.
const clearing: Patch<T> = { size: null, stage: 'Done' }
// @ts-expect-error a field with a default always has a value
const clearingDefault: Patch<T> = { stage: null }
// @ts-expect-error a field with a default always has a value
const emptyDefault: Draft<T> = { ...whole, stage: null }
// @ts-expect-error name is required
const clearingName: Patch<T> = { name: null }

// Verbs and events.
expectTypeOf<VerbName<T>>().toEqualTypeOf<'create' | 'update' | 'rollback' | 'send' | 'ask'>()
expectTypeOf<EventName<T>>().toEqualTypeOf<'Thing.created' | 'Thing.updated' | 'Thing.sent' | 'Thing.asked'>()
expectTypeOf<VerbName<Catalogue['Event']>>().toEqualTypeOf<'create'>()
expectTypeOf<'Contact.qualified'>().toExtend<EventName<Catalogue['Contact']>>()
expectTypeOf<'Contact.won'>().not.toExtend<EventName<Catalogue['Contact']>>()
const args: VerbArgs<T, 'send'> = { speed: 'fast', size: 3 }
// @ts-expect-error size is a number
const wrongArgs: VerbArgs<T, 'send'> = { size: 'big' }
// @ts-expect-error send takes no colour
const unknownArgs: VerbArgs<T, 'send'> = { colour: 'red' }

// Filters follow relations in both directions, at most three segments, with the type of the last field.
type ContactWhere = Where<Catalogue['Contact'], Catalogue>
const where: ContactWhere = {
  name: 'Ada',
  stage: { $in: ['Lead', 'Qualified'] },
  email: { $regex: '@example\\.org$', $options: 'i', $not: { $eq: 'a@example.org' } },
  leadScore: { $gte: 10, $lt: 20, $ne: null },
  $createdAt: { $gte: '2026-01-01' },
  'organization.industry': 'healthcare',
  'organization.parent.name': 'Acme',
  'deals.value': { $gt: 1_000 },
  'deals.organization.tier': { $nin: ['SMB'] },
  'organization.$id': 'organization_1',
  $or: [{ phone: { $exists: true } }, { $and: [{ mobile: null }] }],
  $text: 'ada',
}
const into: Where<Catalogue['Event'], Catalogue> = { 'properties.plan.name': 'pro', $text: { $search: 'sign' } }
// @ts-expect-error None is not a stage
const wrongStage: ContactWhere = { stage: 'Nobody' }
// @ts-expect-error value is a number
const wrongValue: ContactWhere = { 'deals.value': { $gt: 'much' } }
// @ts-expect-error four segments are too many
const tooDeep: ContactWhere = { 'deals.organization.parent.name': 'Acme' }
// @ts-expect-error an organization has no colour
const noSuchPath: ContactWhere = { 'organization.colour': 'red' }
// @ts-expect-error a number has no pattern
const noPattern: ContactWhere = { leadScore: { $regex: '1' } }
// @ts-expect-error $near is not an operator
const noOperator: ContactWhere = { name: { $near: 'Ada' } }
const listWhere: Where<T> = { tags: 'a', friends: { $in: ['contact_1'] } }

// Includes name relations of either direction, nested by dots.
expectTypeOf<'organization' | 'deals' | 'deals.organization' | 'deals.organization.parent'>().toExtend<
  Include<Catalogue['Contact'], Catalogue>
>()
expectTypeOf<'name'>().not.toExtend<Include<Catalogue['Contact'], Catalogue>>()
expectTypeOf<'deals.organization.parent.parent'>().not.toExtend<Include<Catalogue['Contact'], Catalogue>>()
expectTypeOf<Include<T>>().toEqualTypeOf<'owner' | 'friends' | 'parts'>()
expectTypeOf<'size' | '$createdAt'>().toExtend<SortField<T>>()

// A type that a tenant declared at run time is loosely typed.
expectTypeOf<VerbName<Noun>>().toEqualTypeOf<string>()
expectTypeOf<Entity<Noun>['anything']>().toEqualTypeOf<Json | undefined>()
const loose: Where<Noun> = { 'a.b.c': { $gt: 1 } }

test('TypeScript knows exactly the existing verbs', () => {
  expect(Object.keys(Thing.verbs).sort()).toEqual([
    'ask',
    'create',
    'rollback',
    'send',
    'update',
  ] satisfies VerbName<T>[])
})

// The type checker checks the code above; this prevents an unused error.
export const compiled = [
  ...[whole, full, lacking, wrongWord, service, back, typo, clearing, clearingName, args, wrongArgs, unknownArgs],
  ...[clearingDefault, emptyDefault],
  ...[where, into, wrongStage, wrongValue, tooDeep, noSuchPath, noPattern, noOperator, listWhere, loose],
]
