import { catalogue } from '@tildebase/nouns'
import { expect, test } from 'vitest'
import type { Entity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'
import { hasMoves, moveTo } from './moves.ts'

const Deal = catalogue.Deal as unknown as Noun
const deal = (stage: string) => ({ $id: 'deal_1', $type: 'Deal', $version: 1, stage }) as unknown as Entity

test.each([
  ['a verb that sets the state', 'Proposal', 'Won', 'win'],
  ['a verb that asks for a reason', 'Proposal', 'Lost', 'lose'],
  ['a verb that steps through the order', 'Prospecting', 'Negotiation', 'advance'],
  ['no verb', 'Won', 'Proposal', undefined],
  ['the verb for a step back', 'Proposal', 'Prospecting', 'revert'],
  ['a verb for the next step', 'Qualification', 'Proposal', 'advance'],
])('the board finds %s: from %s to %s', (_, from, to, verb) => {
  expect(moveTo(Deal, deal(from), 'stage', to)?.verb.name).toBe(verb)
})

test('a field that no verb moves is updated', () => {
  expect(hasMoves(Deal, 'stage')).toBe(true)
  expect(hasMoves(Deal, 'recurringInterval')).toBe(false)
})
