import { catalogue, type Json } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Noun } from '../values/noun.ts'
import { cellValue, draftOf, guessMapping } from './convert.ts'

const Contact = catalogue.Contact as unknown as Noun
const Deal = catalogue.Deal as unknown as Noun

test('columns are matched to fields without regard to case, spaces and signs', () => {
  expect(guessMapping(Contact, ['Name', 'E-Mail', 'Lead score', 'Shoe size'])).toEqual({
    Name: 'name',
    'E-Mail': 'email',
    'Lead score': 'leadScore',
    'Shoe size': null,
  })
})

test('a row becomes a draft; empty cells and unmapped columns are left out', () => {
  const mapping = { Name: 'name', Score: 'leadScore', Stage: 'stage', Other: null }
  const row = { Name: ' Ada ', Score: '7', Stage: 'qualified', Other: 'x' }

  expect(draftOf(Contact, mapping, row)).toEqual({ name: 'Ada', leadScore: 7, stage: 'Qualified' })
  expect(draftOf(Contact, mapping, { ...row, Score: '' })).not.toHaveProperty('leadScore')
})

test.each<[string, string, Json]>([
  ['value', '1.234,50', 1234.5],
  ['value', '1,234.50', 1234.5],
  ['value', '€ 12500', 12_500],
  ['value', 'a lot', 'a lot'],
  ['expectedCloseDate', '31.01.2026', '2026-01-31'],
  ['expectedCloseDate', '2026-01-31', '2026-01-31'],
  ['stage', 'won', 'Won'],
])('%s reads %s as %j', (name, cell, value) => {
  expect(cellValue(Deal.fields[name]!, cell)).toEqual(value)
})
