import { describe, expect, test } from 'vitest'
import { strip as nodeStrip } from '../../node/threads/script/bench.ts'
import { strip } from '../../workerd/isolates/strip.ts'
import { functionOf, type StripTypes } from './code.ts'

const READERS: [string, StripTypes][] = [
  ['as Node strips types', nodeStrip],
  ['as an isolate strips types', (text) => strip(text)],
]

describe.each(READERS)('code as a function, %s', (_, stripTypes) => {
  const run = (code: string): unknown => new Function(`return ${functionOf(code, [], stripTypes)}`)()()

  test.each([
    ['the last expression is returned', '1 + 1', 2],
    ['so is one after statements', 'const a = 2\na * 3', 6],
    ['return works at the top', 'return 7', 7],
    ['await works at the top', 'await Promise.resolve(8)', 8],
    ['types are stripped', 'const a: number = 9; (a as any) satisfies unknown', 9],
    ['an object literal in brackets', '({ a: 1 })', { a: 1 }],
    ['a comment at the end does no harm', '10 // ten', 10],
    ['a semicolon at the end does no harm', '11;', 11],
    ['a declaration at the end gives nothing', 'const a = 1', undefined],
    ['no code gives nothing', '', undefined],
    ['a sequence is its last value', '1, 2', 2],
    ['generics are not comparisons', 'const id = <T,>(x: T): T => x\nid<number>(3)', 3],
  ])('%s', async (_title, code, expected) => {
    expect(await run(code)).toEqual(expected)
  })

  test('names that are given are known to the code', async () => {
    const main = new Function(`return ${functionOf('a + b', ['a', 'b'], stripTypes)}`)()

    expect(await main(1, 2)).toBe(3)
  })

  test.each([
    ['a fault is told with its line', 'const a = 1\nconst b = ;', /line 2|Expression expected/],
    ['an enum is told to be left out', 'enum A { X }', /enum.*plain JavaScript/],
    ['an import is refused', "import fs from 'node:fs'", /cannot import or export modules/],
    ['an export is refused', 'export const a = 1', /cannot import or export modules/],
    ['a bracket too many is refused', '}); (() => {', /bracket/],
    ['nesting without end is refused', '('.repeat(30_000), /deep|stack|unexpected/i],
  ])('%s', (_title, code, expected) => {
    expect(() => functionOf(code, [], stripTypes)).toThrow(expected)
  })
})

test('code that is run again is not read again, with the same names', () => {
  const read: string[] = []
  const reader = (text: string) => {
    read.push(text)
    return strip(text)
  }

  const first = functionOf('a + 1', ['a'], reader)
  const again = functionOf('a + 1', ['a'], reader)
  functionOf('a + 1', ['a', 'b'], reader)

  expect(again).toBe(first)
  expect(read).toHaveLength(2)
})
