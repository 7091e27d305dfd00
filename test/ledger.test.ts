import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { balance, findClaims, readClaims } from './ledger.ts'
import { openFile, report } from './ledger-report.ts'
import { OPEN } from './requirements/open.ts'
import { REQUIREMENTS, type Requirement } from './requirements.ts'
import { verifies } from './verifies.ts'

describe('the ledger of this repository', () => {
  const ledger = balance(REQUIREMENTS, OPEN, findClaims(join(import.meta.dirname, '..')))
  console.log(report(ledger))

  test('every id that a test or a mark names is a requirement', () => {
    expect(ledger.unknown).toEqual([])
  })

  test('every test writes the ids it proves as literals', () => {
    expect(ledger.unreadable).toEqual([])
  })

  test('a requirement is proved by a test or marked open', () => {
    expect(ledger.unmarked, 'run `npm run ledger -- --write`').toEqual([])
  })

  test('a requirement that a test proves is not marked open', () => {
    expect(ledger.stale, 'run `npm run ledger -- --write`').toEqual([])
  })
})

describe('reading claims', () => {
  test.each([
    ['one id', "verifies('a.b', 'title', () => {})", [['a.b']]],
    ['several ids', "verifies(['a.b', 'c'], 'title', () => {})", [['a.b', 'c']]],
    ['ids on lines of their own', "verifies(\n  [\n    'a',\n    'b',\n  ],\n  'title', () => {})", [['a', 'b']]],
    ['two calls', "verifies('a', 'x', f)\nverifies('b', 'y', g)", [['a'], ['b']]],
    ['a call after a string with a slash', "const url = 'https://x' ; verifies('a', 'x', f)", [['a']]],
    ['ids that are no literals', 'verifies(ids, title, f)', [[]]],
    ['a comment', "// verifies('a', 'x', f)\n/* verifies('b', 'x', f) */", []],
    ['a string', "\"verifies('a')\" + `verifies('b')`", []],
    ['an import', "import { verifies } from './verifies.ts'", []],
  ])('%s', (_, text, expected) => {
    expect(readClaims('x.test.ts', text).map(({ ids }) => ids)).toEqual(expected)
  })

  test('a claim knows its line', () => {
    expect(readClaims('x.test.ts', "\n\nverifies('a', 'x', f)")).toEqual([{ file: 'x.test.ts', line: 3, ids: ['a'] }])
  })
})

describe('balancing', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((id): Requirement => ({ id, source: 'A1', text: id, area: 'rest' }))
  const claims = [
    { file: 'x.test.ts', line: 1, ids: ['a', 'z'] },
    { file: 'x.test.ts', line: 9, ids: [] },
  ]

  test('what is claimed is proved and the rest is open', () => {
    const ledger = balance([a!, b!, c!], ['a', 'b'], claims)

    expect(ledger).toEqual({
      proved: [a],
      open: [b, c],
      unmarked: ['c'],
      stale: ['a'],
      unknown: ['z'],
      unreadable: ['x.test.ts:9'],
    })
  })

  test('the file of marks that is written holds what is open', () => {
    const written = openFile([b!, c!]).slice(openFile([b!, c!]).indexOf('`\n') + 1)

    expect(written.slice(0, written.indexOf('`')).split(/\s+/).filter(Boolean)).toEqual(['b', 'c'])
  })
})

test('a test that names an unknown requirement is refused', () => {
  const call = verifies as (id: string, title: string, prove: () => void) => void

  expect(() => call('no.such', 'title', () => {})).toThrow('No requirement is called no.such.')
})
