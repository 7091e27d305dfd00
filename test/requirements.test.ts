import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { REQUIREMENTS } from './requirements.ts'

const SPEC = join(import.meta.dirname, '../docs/spec')
const TEXT = readFileSync(join(SPEC, 'decisions.md'), 'utf8')

/** The numbers of all decisions, as the page has them. */
const ALL = [...TEXT.matchAll(/^- \*\*([A-Z]\d+)\*\*/gm)].map(([, number]) => number!)

/** The headings of the contract that have no smaller heading below them: these sections have the facts. */
const SECTIONS = [...readFileSync(join(SPEC, 'service.md'), 'utf8').matchAll(/^(#{2,3}) (.+)$/gm)]
  .filter(([, marks], index, all) => marks === '###' || all[index + 1]?.[1] !== '###')
  .map(([, , title]) => `service.md#${title}`)

const SOURCES = new Set(REQUIREMENTS.map(({ source }) => source))
const IDS = REQUIREMENTS.map(({ id }) => id)

test('every decision has a requirement', () => {
  expect(ALL.filter((decision) => !SOURCES.has(decision))).toEqual([])
})

test('every section of the contract has a requirement', () => {
  expect(SECTIONS.filter((section) => !SOURCES.has(section))).toEqual([])
})

test('every requirement comes from a decision or a section', () => {
  expect([...SOURCES].filter((source) => !ALL.includes(source) && !SECTIONS.includes(source))).toEqual([])
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
