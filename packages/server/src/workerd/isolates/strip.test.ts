import { readdirSync, readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { parse } from 'acorn'
import { expect, test } from 'vitest'
import { strip } from './strip.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..', '..', '..', '..')

test('of every source of this repository is left what Node leaves', () => {
  const sources = readdirSync(join(REPOSITORY, 'packages'), { recursive: true, encoding: 'utf8' }).filter((file) =>
    /^\w+\/src\/.*(?<!\.d)\.ts$/.test(file),
  )

  const different = sources.filter((file) => {
    const text = readFileSync(join(REPOSITORY, 'packages', file), 'utf8')
    const [ours, theirs] = [strip(text, 'module'), stripTypeScriptTypes(text)]
    return ours !== theirs && program(ours) !== program(theirs)
  })

  expect(sources.length).toBeGreaterThan(500)
  expect(different).toEqual([])
})

test.each([
  ['declarations', 'type A = 1\ninterface B { a: A }\ndeclare const c: B\nlet d: A = 1'],
  ['a type that goes on', 'let a: A\n(b)'],
  ['a member before brackets', 'class A { a: B\n[c] = 1 }'],
  ['what is returned', 'const f = () => { return a as A\n[b].c }'],
  ['an assertion at the end of a line', 'const a = b as A\n(c)'],
  ['assertions in a row', 'const a = b! as unknown as C satisfies D'],
  ['optional and rest parameters', 'function f(this: A, a?: B, { b }: C = {}, ...c: D[]): asserts a is B {}'],
  ['an arrow whose type breaks the line', 'const f = (a: A): {\n  b: B\n} => a'],
  ['generics', 'const f = async <T,>(a: T): Promise<T> => a; f<A>(b); new Map<A, B>(); f<A>``; a < b > (c)'],
  ['exported overloads', 'export function f(a: A): B\nexport function f(a: B): A\nexport function f(a) { return a }'],
  ['overloads', 'function f(a: A): B\nfunction f(a: B): A\nfunction f(a) { return a }'],
  [
    'a class',
    `abstract class A<T> extends B<T> implements C, D<T> {
      declare a: A; private readonly b?: B = 1; static override c!: C; [key: string]: unknown; public 'd'?: D
      abstract e(): A; protected async f?<T>(a: T): Promise<T>; get [g](): A { return 1 }; #h?: A; constructor(a: A) { super() }
      f(a: A) {}
    }`,
  ],
  ['a loop', 'for (const a of b as A[]) { let c!: C }'],
  ['a catch', 'try {} catch (a: unknown) {}'],
  ['words that are names', 'const type = 1, as = 2, declare = 3, abstract = 4; type\nas; of = satisfies'],
  ['a comparison', 'if (a < b && c > (d)) a++'],
  ['letters of two units', 'const a: A = "😀" as B; const 𠮷: A = 1'],
  ['imports', "import { type A, b } from 'c'\nimport type D from 'd'\nexport type { A }"],
])('types of %s are removed as by Node', (_, text) => {
  expect(program(strip(text, 'module'))).toBe(program(stripTypeScriptTypes(text)))
})

test.each([
  ['enum', 'enum A { b }'],
  ['angle brackets', 'const a = <A>b'],
  ['namespace', 'namespace A { const b = 1 }'],
  ['parameter property', 'class A { constructor(private b: B) {} }'],
])('what must be compiled is refused: %s', (what, text) => {
  expect(() => strip(text)).toThrow(what)
  expect(() => stripTypeScriptTypes(text)).toThrow()
})

/** What a text of JavaScript says, without where. */
function program(text: string): string {
  return JSON.stringify(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }), (key, value) => {
    if (key === 'start' || key === 'end') return undefined
    return typeof value === 'bigint' ? String(value) : value
  })
}
