import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue, checkDraft, checkPatch, parseNoun } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import { PERIODS } from '../list/filter/periods.ts'
import { englishOf } from '../values/format.ts'
import { answerIn } from './answers.ts'
import germanAnswers from './de/answers.ts'
import german from './de/index.ts'
import hebrewAnswers from './he/answers.ts'
import hebrew from './he/index.ts'
import { filled } from './text.ts'

const SOURCES = join(import.meta.dirname, '..')
const LANGUAGES = [
  { name: 'German', texts: german, answers: germanAnswers },
  { name: 'Hebrew', texts: hebrew, answers: hebrewAnswers },
]

/** Pages of people who manage keys, tenants or webhooks, or who write queries and code. */
const FOR_DEVELOPERS = [
  'operator/**',
  'pages/{agent,query}.tsx',
  'parts/frame/{key-box,side}.tsx',
  'people/keys.tsx',
  'types/preview.tsx',
  'webhooks/**',
]
/** Who acts besides people and keys, the console's own types, ways to sign in, actions of the operator's log, and steps of tasks. */
const OTHERS = [
  ...['Anonymous', 'Operator', 'Service', 'Signup'],
  ...['Dashboard', 'Schema', 'Setting', 'View', 'Password', 'Passkey'],
  ...[
    'Backup',
    'Create',
    'Damage',
    'Delete',
    'Fork',
    'Quarantine',
    'Release',
    'Restore',
    'Rotate',
    'Set aside',
    'Whole',
  ],
  ...['Begin', 'Copy', 'Detach', 'Read', 'Receive', 'Replay', 'Salvage', 'Send', 'Verify', 'Write'],
]
/** Names by their labels in English. */
const WRITING = { fill: filled, label: englishOf }
const OF_THE_API =
  /\b(verbs?|scopes?|tenants?|changesets?|entity|entities|nouns?|operators?|operations?|declared?|notation|payload|roll(ed)? ?back|version \{\}|arguments?)\b/i

test.each(LANGUAGES)('every text of the console, and every name of the catalogue, is in $name', ({ texts }) => {
  const wanted = [...textsInSources(), ...namesOfTheCatalogue(), ...PERIODS.map(englishOf), ...OTHERS]

  expect(wanted.length).toBeGreaterThan(1_500)
  expect(wanted.filter((english) => !Object.hasOwn(texts, english))).toEqual([])
})

test.each(LANGUAGES)('no text in $name has a place for a value that the English one has not', ({ texts, answers }) => {
  const wrong = Object.entries({ ...texts, ...answers }).filter(([english, other]) => {
    const places = english.match(/\{\}/g)?.length ?? 0
    const numbered = [...other.matchAll(/\{(\d)\}/g)].map(([, number]) => Number(number))
    return (other.match(/\{\}/g)?.length ?? 0) > places || numbered.some((number) => number >= places)
  })

  expect(wrong).toEqual([])
})

test.each(LANGUAGES)('the reasons why fields are refused are in $name', ({ answers }) => {
  const Thing = parseNoun('Thing', {
    $strict: true,
    name: 'string!',
    size: 'number',
    score: 'number 1..5',
    open: 'boolean',
    day: 'date',
    at: 'datetime',
    tags: 'string[]',
    key: 'secret',
    twice: '= size * 2',
    owner: '-> ApiKey',
    parts: '<- Part.thing[]',
  })
  const wrong = {
    size: 'x',
    score: 9,
    open: 1,
    day: 'x',
    at: 'x',
    tags: 1,
    key: '',
    twice: 1,
    owner: 1,
    parts: 1,
    other: 1,
  }
  const { issues } = checkDraft(Thing, wrong, 0)
  const reasons = [...issues, ...checkPatch(Thing, { name: null }, 0).issues].map(({ message }) => message)

  expect(reasons).toHaveLength(13)
  expect(reasons.filter((one) => answerIn(answers, one, '', WRITING) === null)).toEqual([])
})

test.each([
  ['is required', '', 'ist erforderlich'],
  ['must be a number from 1 to 5', '', 'muss eine Zahl von 1 bis 5 sein'],
  [
    'must be the id of a Contact or an Organization, such as contact_…',
    '',
    'muss ein Eintrag dieser Art sein: Contact, Organization',
  ],
  [
    'Another Contact has this email already. It must be unique.',
    'conflict',
    'Email muss eindeutig sein. Der Wert ist vergeben (Contact).',
  ],
  [
    'The type Car is not valid. size: is required',
    'invalid_schema',
    'Der Typ Car ist nicht gültig. Size: ist erforderlich',
  ],
  ['This key may send at most 600 requests per minute.', 'rate_limited', germanAnswers.rate_limited],
  ['The hook says no.', 'rejected', null],
])('the service says “%s”', (english, code, expected) => {
  expect(answerIn(germanAnswers, english, code, WRITING)).toBe(expected)
})

test('pages for daily work say action, entry and change, and not the words of the API', () => {
  const daily = textsInSources(FOR_DEVELOPERS)

  expect(daily.length).toBeGreaterThan(900)
  expect(daily.filter((text) => OF_THE_API.test(text))).toEqual([])
})

test.each([
  ['New {}', ['deal'], 'New deal'],
  ['{} of {}', [1, 2], '1 of 2'],
  ['{1} of {0}', ['a', 'b'], 'b of a'],
  ['{} and nothing', [null], ' and nothing'],
  ['{}', ['$& {}'], '$& {}'],
])('%s takes its values', (text, values, expected) => {
  expect(filled(text, values)).toBe(expected)
})

/** The texts that the sources name. Each has to be there as it is, so that it can be found. */
function textsInSources(except: readonly string[] = []): string[] {
  const sources = globSync('**/*.{ts,tsx}', { cwd: SOURCES, exclude: ['texts/**', '**/*.test.ts', ...except] })
  return sources.flatMap((name) => {
    const source = readFileSync(join(SOURCES, name), 'utf8')
    const calls = [...source.matchAll(/(?<![\w.])t\(\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|.{0,30})/g)]
    return calls.map(([, given = '']) => {
      expect(given, `${name} names no text`).toMatch(/^['"]/)
      return given.slice(1, -1).replace(/\\(.)/g, '$1')
    })
  })
}

/** What types, fields, verbs and choices are called in English. */
function namesOfTheCatalogue(): string[] {
  const names = Object.values(catalogue).flatMap(({ name, path, domain, fields, verbs }) => [
    name,
    path,
    domain,
    ...Object.values(fields).flatMap((field) => [field.name, ...(field.kind === 'enum' ? (field.values ?? []) : [])]),
    ...Object.values(verbs).flatMap((verb) => [verb.name, verb.event, ...(verb.args ?? [])]),
  ])
  return [...new Set(names.map(englishOf))]
}
