import { expect, test } from 'vitest'
import { REQUIREMENTS } from './requirements.ts'

/** How many decisions each chapter holds. */
const CHAPTERS = { A: 6, B: 7, C: 10, D: 10, E: 3, F: 5, G: 4, H: 5, I: 3, J: 3, K: 4, L: 2, M: 13 }

/** Of the chapters that are not done as a whole, the decisions that are. */
const SINGLE = ['R8']

const DECISIONS = Object.entries(CHAPTERS)
  .flatMap(([chapter, count]) => Array.from({ length: count }, (_, index) => `${chapter}${index + 1}`))
  .concat(SINGLE)

/** The sections of the contract that hold facts. */
const SECTIONS = [
  'What the service does',
  'Common entity meta-fields',
  'Resources/ApiKey',
  'Resources/Event',
  'Resources/Webhook',
  'Other record shapes',
  'ApiKey status',
  'Webhook status',
  'States/Event',
  'Other entities',
  'Endpoints',
  'Entity operations',
  'List query parameters',
  'Change stream',
  'Webhook registration',
  'Import',
  'Export',
  'Sync',
  'Manifest',
  'MCP',
  'Query language',
  'Authentication',
  'Event names',
  'Webhook delivery',
  'Retry policy',
  'Errors',
  'Limits',
  'Versioning',
].map((title) => `service.md#${title}`)

const SOURCES = new Set(REQUIREMENTS.map(({ source }) => source))
const IDS = REQUIREMENTS.map(({ id }) => id)

test('every decision has a requirement', () => {
  expect(DECISIONS.filter((decision) => !SOURCES.has(decision))).toEqual([])
})

test('every section of the contract has a requirement', () => {
  expect(SECTIONS.filter((section) => !SOURCES.has(section))).toEqual([])
})

test('every requirement comes from a decision or a section', () => {
  expect([...SOURCES].filter((source) => !DECISIONS.includes(source) && !SECTIONS.includes(source))).toEqual([])
})

test('ids are unique', () => {
  expect(IDS.filter((id, index) => IDS.indexOf(id) !== index)).toEqual([])
})

test('ids are dotted words', () => {
  expect(IDS.filter((id) => !/^[a-z][A-Za-z0-9]*(\.[a-z][A-Za-z0-9]*)+$/.test(id))).toEqual([])
})

test('texts are sentences', () => {
  expect(REQUIREMENTS.filter(({ text }) => text.length < 12 || !/[.…]$/.test(text))).toEqual([])
})

test('no two requirements of an area say the same', () => {
  const said = REQUIREMENTS.map(({ area, text }) => `${area}: ${text}`)

  expect(said.filter((text, index) => said.indexOf(text) !== index)).toEqual([])
})
