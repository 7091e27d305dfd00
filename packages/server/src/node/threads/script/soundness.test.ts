import { stripTypeScriptTypes } from 'node:module'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isTooDeep } from '../../../host/script/depth.ts'
import { openScript } from './script.ts'

let script: ReturnType<typeof openScript>
beforeAll(() => {
  // One worker: the second owner gets the thread of the first, if it still runs.
  script = openScript({ most: 1 })
})
afterAll(() => script.close())

const run = (owner: string, code: string, more: { cpuMs?: number; timeMs?: number } = {}) =>
  script.run({
    code,
    owner,
    timeMs: 20_000,
    memoryBytes: 64 * 1_048_576,
    operations: 20,
    resultLength: 1_048_576,
    call: async () => null,
    ...more,
  })

/** Forms of the language that a reader follows with its stack. */
const DEEP: { readonly [form: string]: (depth: number) => string } = {
  operators: (depth) => `${'!'.repeat(depth)}1`,
  'operators on lines of their own': (depth) => `${'!\n'.repeat(depth)}1`,
  brackets: (depth) => `${'('.repeat(depth)}1${')'.repeat(depth)}`,
  'brackets that stay open': (depth) => '['.repeat(depth),
  objects: (depth) => `(${'{a:'.repeat(depth)}1${'}'.repeat(depth)})`,
  'arrow functions': (depth) => `${'a=>'.repeat(depth)}1`,
  'default values': (depth) => `${'(a='.repeat(depth)}1${')=>1'.repeat(depth)}`,
  statements: (depth) => `${'if(1)'.repeat(depth)};`,
  labels: (depth) => `${Array.from({ length: depth }, (_, at) => `a${at}:`).join('')};`,
  choices: (depth) => `${'1?1:'.repeat(depth)}1`,
  assignments: (depth) => `let a;${'a='.repeat(depth)}1`,
  templates: (depth) => `${'`${'.repeat(depth)}1${'}`'.repeat(depth)}`,
  types: (depth) => `let a:${'keyof '.repeat(depth)}string`,
  'type arguments': (depth) => `let a:${'Array<'.repeat(depth)}string${'>'.repeat(depth)}`,
}
const THICKNESS = [400, 1_200, 6_000, 14_000]
const DERAILED = 'let b = 1; let c = b! / 2; '

test.each(Object.keys(DEEP))('deep code of one owner leaves the thread as it was for another: %s', async (form) => {
  for (const depth of THICKNESS) {
    await run('acme', DEEP[form]!(depth))
    // A division that looks like a regular expression hides what follows from the bound on depth.
    await run('acme', `${DERAILED}${DEEP[form]!(depth)}`)

    expect(await run('beta', 'const n: number = 2; n * 21')).toEqual({ result: 42, logs: [] })
  }
})

test.each(Object.keys(DEEP))('code that passes the bound on depth does not harm the reader: %s', (form) => {
  const passing = [100, 200, 400, 600, 800, 1_000, 1_500, 2_000, 3_000].filter(
    (depth) => !isTooDeep(DEEP[form]!(depth)),
  )

  expect(passing.length).toBeGreaterThan(0)
  for (const depth of passing) {
    try {
      stripTypeScriptTypes(`(async () => {${DEEP[form]!(depth)}\n})`)
    } catch (reason) {
      expect((reason as NodeJS.ErrnoException).code).toBe('ERR_INVALID_TYPESCRIPT_SYNTAX')
    }
  }
})

test('long code is not deep code', () => {
  const line = "  if (a.b !== c?.d && !e) f(`x${g}`, [1, -2]) // '("
  const statements = Array.from({ length: 1_500 }, () => line).join('\n')
  const calls = Array.from({ length: 5_000 }, (_, at) => `const v${at} = await load(${at})`).join('\n')
  const list = `[${'{ a: -1 }, '.repeat(8_000)}]`

  expect([statements, calls, list].map(isTooDeep)).toEqual([false, false, false])
})

test.each([
  ['a search in an array-like of endless length', 'Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)'],
  ['BigInts', '[...Array(999).keys()].reduce((a) => (a * a) % ((1n << 500000n) - 1n), (1n << 499999n) - 1n)'],
])('a hook that computes too long in a built-in function is ended: %s', async (_, code) => {
  // The time is so long that only the limit of computing can end it.
  const { error } = await run('acme', code, { cpuMs: 50, timeMs: 3_600_000 })

  expect(error).toMatchObject({ code: 'script_timeout', message: expect.stringContaining('50 ms of computing') })
  expect(await run('beta', '1 + 1', { cpuMs: 50 })).toEqual({ result: 2, logs: [] })
})
