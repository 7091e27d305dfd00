import { catalogue } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { convertRow, guessPlan, LEFT_OUT, unknownWords } from './convert.ts'
import type { Table } from './read.ts'

const Contact = catalogue.Contact as unknown as Noun
const Deal = catalogue.Deal as unknown as Noun

const tableOf = (columns: readonly string[], ...rows: readonly (readonly string[])[]): Table => ({
  columns,
  rows: rows.map((cells, at) => ({
    line: at + 2,
    cells: Object.fromEntries(columns.map((column, n) => [column, cells[n] ?? ''])),
  })),
  separator: ';',
  encoding: 'utf-8',
})

test('columns are matched to fields without regard to case, spaces and signs', () => {
  const plan = guessPlan(Contact, tableOf(['Name', 'E-Mail', 'Lead score', 'Shoe size']))

  expect(Object.values(plan).map(({ field }) => field)).toEqual(['name', 'email', 'leadScore', null])
})

test('a row becomes a draft; empty cells and columns without a field are left out', () => {
  const table = tableOf(['Name', 'Lead score', 'Stage', 'Other'], [' Ada ', '7', 'qualified', 'x'], ['Bo', '', '', ''])
  const plan = guessPlan(Contact, table)

  expect(table.rows.map((row) => convertRow(Contact, plan, row, new Map()))).toEqual([
    { draft: { name: 'Ada', leadScore: 7, stage: 'Qualified' }, bad: [] },
    { draft: { name: 'Bo' }, bad: [] },
  ])
})

test('cells that mean nothing in their field are named, and the others are kept', () => {
  const table = tableOf(['Name', 'Value', 'Stage', 'Expected close date'], ['Roof', 'a lot', 'won', 'soon'])
  const { draft, bad } = convertRow(Deal, guessPlan(Deal, table), table.rows[0]!, new Map())

  expect(draft).toEqual({ name: 'Roof', stage: 'Won' })
  expect(bad.map(({ column }) => column)).toEqual(['Value', 'Expected close date'])
})

test('words of the file are given a meaning, or left out', () => {
  const table = tableOf(['Name', 'Stage'], ['Ada', 'Kunde'], ['Bo', 'Alt'], ['Cy', 'Lead'])
  const plan = guessPlan(Contact, table)
  const meant = { ...plan, Stage: { ...plan.Stage!, words: { Kunde: 'Customer', Alt: LEFT_OUT } } }

  expect(unknownWords(Contact.fields.stage, ['Kunde', 'Lead', 'Kunde', 'Alt'])).toEqual(['Kunde', 'Alt'])
  expect(table.rows.map((row) => convertRow(Contact, meant, row, new Map()).draft)).toEqual([
    { name: 'Ada', stage: 'Customer' },
    { name: 'Bo' },
    { name: 'Cy', stage: 'Lead' },
  ])
})

test('a relation is one entity, or the cell is named', () => {
  const table = tableOf(['Name', 'Organization'], ['Ada', 'One'], ['Bo', 'Two'], ['Cy', 'None'])
  const plan = guessPlan(Contact, table)
  const found = new Map([
    ['One', { ids: ['organization_1'] }],
    ['Two', { ids: ['organization_2', 'organization_3'] }],
    ['None', { ids: [] }],
  ])
  const rows = table.rows.map((row) => convertRow(Contact, plan, row, new Map([['Organization', found]])))

  expect(rows.map(({ draft }) => draft.organization)).toEqual(['organization_1', undefined, undefined])
  expect(rows.map(({ bad }) => bad.map(({ reason }) => reason))).toEqual([
    [],
    ['2 entries are called “Two”'],
    ['“None” was not found'],
  ])
})
