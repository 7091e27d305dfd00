import { expect, test } from 'vitest'
import { linesOf, type Reviewed } from './changeset.ts'

const ORGANIZATION = 'organization_0VmK2c8Zk500Zq5RtYpWx3'
const change = (operation: number, id: string, name: string) => ({
  operation,
  type: 'Contact',
  id,
  verb: 'update',
  changes: { name: { from: null, to: name }, organization: { from: null, to: ORGANIZATION } },
})
const changeset = {
  conflicts: [],
  diff: [
    change(1, 'contact_0VmK2c8Z500aaaaaaaaaaa', 'Person 1'),
    change(2, 'contact_0VmK2c9Bbbbbbbbbbbbbbb', 'Person 500'),
  ],
} as unknown as Reviewed
const found = (words: string) =>
  linesOf(changeset, { words, onlyConflicts: false }).flatMap((line) => (line.kind === 'operation' ? line.number : []))

test.each([
  ['', [1, 2]],
  ['person 500', [2]],
  ['500', [2]],
  ['update', [1, 2]],
  ['contact_0VmK2c8', [1]],
  ['contact_0VmK2c9Bbbbbbbbbbbbbbb', [2]],
  [ORGANIZATION, [1, 2]],
  ['nothing', []],
])('“%s” is found in what people see, and at the beginning of ids', (words, operations) => {
  expect(found(words)).toEqual(operations)
})
