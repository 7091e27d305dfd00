import { describe, expect, test } from 'vitest'
import json from '../../../../docs/spec/catalogue.json' with { type: 'json' }
import { verifies } from '../../../../test/verifies.ts'
import { parseNoun } from '../notation/notation.ts'
import type { JsonObject, Noun } from '../noun.ts'
import { checkRelations, nounsOf } from '../nouns.ts'
import { catalogue } from './index.ts'

interface Facts {
  readonly domain: string
  readonly path: string
  readonly fields: { readonly [name: string]: string }
  readonly relations: { readonly [name: string]: string }
  readonly verbs: {
    readonly [name: string]: {
      event: string
      before: string
      from?: unknown
      set?: unknown
      args?: unknown
      keeps?: unknown
    }
  }
  readonly timers?: { readonly [name: string]: JsonObject }
  readonly without?: readonly string[]
}

const facts = json as unknown as { readonly [name: string]: Facts }
const nouns: { readonly [name: string]: Noun } = catalogue
const SERVICE = ' (set by the service)'

/** Fields that are not in the facts, and facts that only the service may write. */
const OURS: { readonly [type: string]: { readonly [field: string]: string } } = {
  Agent: { endpoint: 'string', protocol: 'HTTP | MCP', tool: 'string', headers: 'json' },
  ApiKey: {
    status: `Active | Revoked | Expired = Active${SERVICE}`,
    lastUsedAt: `datetime${SERVICE}`,
    filter: 'json',
  },
  Comment: { mentions: '-> User[]' },
  Integration: { scope: 'string', from: 'string' },
  Webhook: {
    status: `active | failing = active${SERVICE}`,
    suspended: `boolean${SERVICE}`,
    filter: 'json',
    from: 'json',
    description: 'string',
  },
}

verifies(['noun.notation', 'type.declared'], 'there are 36 types in 11 domains, and Changeset', () => {
  expect(Object.keys(catalogue)).toEqual([...Object.keys(facts), 'Changeset'])
  expect(Object.keys(facts)).toHaveLength(36)
  expect(new Set(Object.values(nouns).map(({ domain }) => domain)).size).toBe(11)
})

describe.each(Object.entries(facts))(
  '%s',
  (name, { domain, path, fields, relations, verbs, timers = {}, without = [] }) => {
    const noun = nouns[name]!

    test('has its domain and its path', () => {
      expect([noun.name, noun.domain, noun.path]).toEqual([name, domain, path])
    })

    test('has the fields and relations of the facts', () => {
      const declared = Object.entries(noun.notation).filter(
        ([key, value]) => typeof value === 'string' && !key.startsWith('$'),
      )

      expect(Object.fromEntries(declared)).toEqual({ ...fields, ...relations, ...OURS[name] })
    })

    test('has the verbs of the facts, with their steps, states and settings', () => {
      const own = Object.values(noun.verbs).filter((verb) => !BUILT_IN.includes(verb.name))

      expect(own.map(({ order: _, ...verb }) => verb)).toEqual(
        Object.entries(verbs).map(([verb, { from, ...rest }]) => ({
          name: verb,
          ...rest,
          ...(from !== '*' && from !== undefined && { from }),
        })),
      )
    })

    test('has the timers of the facts', () => {
      const expected = Object.entries(timers).map(([timer, facts]) => ({ name: timer, ...facts }))

      expect(Object.values(noun.timers)).toEqual(expected)
    })

    test('does not have the built-in verbs that are turned off', () => {
      const off =
        name === 'Event' ? [...without, 'rollback', 'restore'] : name === 'ApiKey' ? ['rollback', 'restore'] : without

      expect(BUILT_IN.filter((verb) => !Object.hasOwn(noun.verbs, verb))).toEqual(off)
    })

    test('is the same when parsed from its notation as JSON', () => {
      const wire = JSON.parse(JSON.stringify(noun.notation)) as JsonObject

      expect(parseNoun(name, wire, { storage: noun.storage })).toEqual(noun)
    })
  },
)

const BUILT_IN = ['create', 'update', 'delete', 'rollback', 'restore']

test('every relation points to a type, and every inverse relation to a field that points here', () => {
  expect(checkRelations(nounsOf(Object.values(nouns)))).toEqual([])
})

test.each([
  ['Contact', 'stage'],
  ['Deal', 'stage'],
  ['Ticket', 'status'],
  ['Webhook', 'status'],
  ['Comment', null],
])('the states of %s are those of %s', (name, field) => {
  expect(nouns[name]?.stateField).toBe(field)
})

/** The states that a type ends in, or that only an update leaves. */
const FINAL: { readonly [type: string]: readonly string[] } = {
  Activity: ['Completed', 'Cancelled'],
  Contact: ['Qualified', 'Customer', 'Churned', 'Partner'],
  Lead: ['Converted', 'Lost'],
  Organization: ['Active', 'Inactive', 'Churned', 'Archived'],
  Invoice: ['Paid', 'Voided', 'Uncollectible'],
  Payment: ['Failed', 'Refunded'],
  Plan: ['Draft', 'Active', 'Grandfathered', 'Archived'],
  Product: ['Draft', 'Active', 'Archived'],
  Site: ['Draft', 'Published', 'Maintenance'],
  Campaign: ['Completed', 'Cancelled'],
  Experiment: ['Concluded', 'Completed', 'Archived'],
  FeatureFlag: ['Archived'],
  Agent: ['Retired', 'Archived'],
  Integration: ['ComingSoon', 'Deprecated'],
  Workflow: ['Active', 'Triggered', 'Archived'],
  ApiKey: ['Revoked', 'Expired'],
  Message: ['Read'],
  Webhook: ['active', 'failing'],
  Changeset: ['Approved', 'Rejected', 'Stale'],
}

test.each(Object.values(nouns).filter(({ stateField }) => stateField !== null))(
  'verbs lead out of every state of $name that is not final',
  ({ name, stateField, fields, verbs }) => {
    const field = fields[stateField!]!
    const states = (field.kind === 'enum' && field.values) || []
    const leaves = (state: string) =>
      Object.values(verbs).some(({ from, set }) => {
        const next = set?.[stateField!]
        return next !== undefined && next !== state && (from === undefined || from.includes(state))
      })

    expect(states.filter((state) => !leaves(state))).toEqual(FINAL[name] ?? [])
  },
)

test('a deal advances past Closed to Won', () => {
  expect(catalogue.Deal.verbs.advance?.order).toEqual([
    'Prospecting',
    'Qualification',
    'Proposal',
    'Negotiation',
    'Won',
  ])
})
