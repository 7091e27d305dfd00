import { expect, test } from 'vitest'
import facts from '../../../../docs/spec/catalogue.json' with { type: 'json' }
import type { PastTense, PresentParticiple } from '../infer/infer-english.ts'
import { article, camelPrefix, listed, pastTense, pluralPath, presentParticiple } from './english.ts'

type Facts = { readonly path: string; readonly verbs: { readonly [verb: string]: { event: string; before: string } } }
const types = Object.entries(facts as unknown as { readonly [name: string]: Facts })

/** Forms that the notation declares, because they are irregular. */
const DECLARED = ['rollout']
const verbs = types.flatMap(([type, { verbs }]) =>
  Object.entries(verbs).map(([verb, names]) => ({ type, verb, ...names })),
)

test.each(verbs.filter(({ verb }) => !DECLARED.includes(verb)))('$type.$verb is $before, then $event', (names) => {
  expect(presentParticiple(names.verb)).toBe(names.before)
  expect(pastTense(names.verb)).toBe(names.event)
})

test.each(types.filter(([name]) => name !== 'Content'))('the path of %s follows from its name', (name, { path }) => {
  expect(pluralPath(name)).toBe(path)
})

/** Compiles only if the types and the runtime functions have the same results. */
function inflected<V extends string>(verb: V, before: PresentParticiple<V>, event: PastTense<V>) {
  return [verb, before, event] as const
}

test.each([
  inflected('create', 'creating', 'created'),
  inflected('delete', 'deleting', 'deleted'),
  inflected('free', 'freeing', 'freed'),
  inflected('tie', 'tying', 'tied'),
  inflected('panic', 'panicking', 'panicked'),
  inflected('label', 'labelling', 'labelled'),
  inflected('reveal', 'revealing', 'revealed'),
  inflected('limit', 'limiting', 'limited'),
  inflected('fix', 'fixing', 'fixed'),
  inflected('quiz', 'quizzing', 'quizzed'),
  inflected('play', 'playing', 'played'),
  inflected('resend', 'resending', 'resent'),
  inflected('withdraw', 'withdrawing', 'withdrawn'),
  inflected('relay', 'relaying', 'relayed'),
  inflected('markPaid', 'markingPaid', 'markedPaid'),
  inflected('rollBack', 'rollingBack', 'rolledBack'),
])('%s is %s, then %s, at run time and for TypeScript', (verb, before, event) => {
  expect([presentParticiple(verb), pastTense(verb)]).toEqual([before, event])
})

test.each([
  ['ApiKey', 'api-keys', 'apiKey'],
  ['SEOPage', 'seo-pages', 'seoPage'],
  ['Activity', 'activities', 'activity'],
  ['FeatureFlag', 'feature-flags', 'featureFlag'],
  ['Box', 'boxes', 'box'],
  ['Batch', 'batches', 'batch'],
  ['Survey', 'surveys', 'survey'],
  ['Analysis', 'analyses', 'analysis'],
  ['Person', 'people', 'person'],
  ['Woman', 'women', 'woman'],
  ['Settings', 'settings', 'settings'],
  ['OrderItems', 'order-items', 'orderItems'],
  ['News', 'news', 'news'],
  ['Series', 'series', 'series'],
  ['UserData', 'user-data', 'userData'],
  ['Software', 'software', 'software'],
  ['Photos', 'photos', 'photos'],
  ['Address', 'addresses', 'address'],
  ['Bus', 'buses', 'bus'],
  ['Lens', 'lenses', 'lens'],
  ['Canvas', 'canvases', 'canvas'],
  ['Diagnosis', 'diagnoses', 'diagnosis'],
  ['CRM', 'crms', 'crm'],
])('%s has the path %s and the id prefix %s', (name, path, prefix) => {
  expect([pluralPath(name), camelPrefix(name)]).toEqual([path, prefix])
})

test('a list of words reads as a sentence', () => {
  expect(listed(['Lead', 'Qualified', 'Customer'])).toBe('Lead, Qualified or Customer')
  expect(listed(['Lead'])).toBe('Lead')
  expect(article('Organization')).toBe('an Organization')
})
