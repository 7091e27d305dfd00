import type { Json } from '@tildebase/nouns'
import type { ScriptAnswer, ScriptRequest } from '@tildebase/tenant/ports'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openScript } from '../../packages/server/src/node/threads/script/script.ts'
import { startWorkerd, type Workerd } from './workerd.ts'

/** Code that never reaches a place where the interpreter looks at the clock, for minutes on any machine. */
const DEAF = `[${Array(2_000).fill('((1n << 1040000n) - 1n).toString()').join()}].length`

type Options = Partial<Omit<ScriptRequest, 'call'>> & { readonly pauseMs?: number }

/** What came of a run: its answer, and the names of the calls in the order they were answered. */
interface Ran {
  readonly answer: ScriptAnswer
  readonly seen: readonly string[]
}

interface Interpreter {
  /** Whether code can be stopped that never looks at the clock. The platform does so; workerd alone does not. */
  readonly stopsDeaf: boolean
  run(code: string, options: Options): Promise<Ran>
  stop(): Promise<unknown>
}

const INTERPRETERS: { readonly [host: string]: () => Promise<Interpreter> } = { Node: onNode, workerd: onWorkerd }

describe.each(Object.keys(INTERPRETERS))('on %s', (host) => {
  let interpreter: Interpreter
  beforeAll(async () => {
    interpreter = await INTERPRETERS[host]!()
  })
  afterAll(() => interpreter?.stop())

  const run = async (code: string, options: Options = {}): Promise<ScriptAnswer> =>
    (await interpreter.run(code, options)).answer

  describe('what code can do', () => {
    test.each<[string, string, Json]>([
      ['compute', '[1, 2, 3].map((n: number) => n ** 2)', [1, 4, 9]],
      ['call and wait', 'await $.Echo.find({ a: 1 }, { limit: 2 })', ['Echo.find', { a: 1 }, { limit: 2 }]],
      ['call a name itself', 'await $.events({ limit: 1 })', ['events', { limit: 1 }]],
      ['call side by side', '(await Promise.all([1, 2].map((n) => $.Echo.get(n)))).map((a) => a[1])', [1, 2]],
      ['catch what an operation refuses', 'try { await $.Fail.now() } catch (e) { e.code }; 0', 0],
      [
        'see the code of a refusal',
        "await $.Fail.now().catch((e: any) => e.code + ': ' + e.message)",
        'internal: An internal error occurred. The server log has the details under this request id.',
      ],
      ['know the values it is given', 'entity.name + args.length', 'Ada2'],
      ['return nothing', 'undefined', null],
      [
        'send a date and a big number',
        'await $.Echo.get(new Date(0), 12345678901234567890n)',
        ['Echo.get', '1970-01-01T00:00:00.000Z', '12345678901234567890'],
      ],
    ])('%s', async (_, code, expected) => {
      expect(await run(code, { values: { entity: { name: 'Ada' }, args: [1, 2] } })).toEqual({
        result: expected,
        logs: [],
      })
    })

    test('log lines come back with the result', async () => {
      expect(await run("console.log('a', { b: 1 }, [2]); console.error(new Error('no')); 1")).toEqual({
        result: 1,
        logs: ['a {"b":1} [2]', 'Error: no'],
      })
    })

    test('calls without await finish before the end is reported', async () => {
      const { seen } = await interpreter.run('$.A.create(); $.B.create(); 1', { pauseMs: 20 })

      expect(seen).toEqual(['A.create', 'B.create'])
    })
  })

  describe('what code cannot do', () => {
    const attempt = (code: string) =>
      run(`let out; try { out = ${code} } catch (e) { out = 'threw' }; typeof out === 'string' ? out : typeof out`)

    test.each([
      ['typeof process'],
      ['typeof require'],
      ['typeof fetch'],
      ['typeof Buffer'],
      ['typeof XMLHttpRequest'],
      ['typeof WebAssembly'],
      ['typeof Deno'],
      ['typeof setTimeout'],
      ['typeof std'],
      ['typeof os'],
      ['typeof globalThis.process'],
      ['typeof this?.constructor.constructor(\'return typeof process === "undefined" ? undefined : process\')()'],
      ["typeof (await $.constructor('return process'))[0].mainModule"],
      [
        "(() => { try { return typeof (async () => {}).constructor('return process') () .exit } catch { return 'undefined' } })()",
      ],
      ["typeof console.log.constructor('return this.process')()"],
      ['typeof (function () { return this })()?.process'],
      ['typeof globalThis.__proto__.process'],
    ])('%s is undefined', async (code) => {
      const { result } = await attempt(code)

      expect(result).toBe('undefined')
    })

    test.each([
      ['import', "await import('node:fs')"],
      ['import of a file', "await import('./pool.ts')"],
      ['a bracket that closes its cage', '}); process.exit(); (async () => {'],
      ['with', 'with (globalThis) { process }'],
    ])('%s fails', async (_, code) => {
      expect((await run(code)).error?.code).toBe('script_error')
    })

    test('what one run leaves behind is not there in the next', async () => {
      await run('globalThis.left = 1; Array.prototype.left = 2; Object.prototype.left = 3')

      expect(await run('[typeof left, typeof [].left, typeof {}.left]')).toMatchObject({
        result: ['undefined', 'undefined', 'undefined'],
      })
    })

    test('changing the language changes nothing outside', async () => {
      const { result } = await run(
        "JSON.parse = () => 'parsed'; JSON.stringify = () => 'written'; Promise.prototype.then = null; Map.prototype.get = null; 5",
      )

      expect(result ?? 'refused').toSatisfy((value) => value === 5 || value === 'refused')
      expect(await run('6')).toMatchObject({ result: 6 })
    })
  })

  describe('code that takes too much is stopped, and says why', () => {
    test.each<[string, string, string]>([
      ['an endless loop', 'while (true) {}', 'script_timeout'],
      ['an endless loop that catches', 'for (;;) try { for (;;); } catch {}', 'script_timeout'],
      [
        'an endless chain of promises',
        'const f = () => Promise.resolve().then(f); await f()',
        'script_(timeout|memory)',
      ],
      ['a flood of promises', 'for (;;) Promise.resolve().then(() => {})', 'script_(timeout|memory)'],
      [
        'an endless generator',
        'const g = function* () { for (;;) yield 1 }; [...g()].length',
        'script_(timeout|memory)',
      ],
      ['a regular expression that explodes', "/(a+)+$/.exec('a'.repeat(60) + 'b')", 'script_timeout'],
      ['big numbers written out', DEAF, 'script_timeout'],
      ['a sort that never ends', '[1, 2, 3].sort(() => { for (;;); })', 'script_timeout'],
      ['a getter that never ends', '({ get a() { for (;;); } }).a', 'script_timeout'],
      ['a result whose writing never ends', '({ toJSON() { for (;;); } })', 'script_timeout'],
      ['a list without end', 'const a = []; for (;;) a.push(new Uint8Array(1e6))', 'script_memory'],
      ['objects without end', 'const a = []; for (;;) a.push({ a: 1 })', 'script_memory'],
      ['a long text', "'x'.repeat(2 ** 29)", 'script_memory'],
      ['a text that doubles', "let s = 'xx'; for (;;) s += s", 'script_memory|script_error'],
      ['an array buffer', 'new ArrayBuffer(2 ** 30)', 'script_memory'],
      ['a deep recursion', 'const f = () => f(); f()', 'script_error'],
      ['a deep structure', 'let a: any = []; for (let i = 0; i < 2e4; i++) a = [a]; a', 'script_error|script_timeout'],
      ['deep JSON', "JSON.parse('['.repeat(1e5))", 'script_error'],
      ['deep code', "eval('('.repeat(1e4) + '1' + ')'.repeat(1e4))", 'script_error'],
      [
        'a chain of proxies',
        'let p: any = {}; for (let i = 0; i < 1e5; i++) p = new Proxy(p, {}); p.x',
        'script_error',
      ],
      ['too many operations', 'for (let i = 0; i < 30; i++) await $.Echo.get(i)', 'script_operations'],
      ['too many operations, caught', 'for (;;) try { await $.Echo.get(1) } catch {}', 'script_operations'],
      [
        'too many operations at once',
        'await Promise.all(Array.from({ length: 30 }, (_, i) => $.Echo.get(i)))',
        'script_operations',
      ],
      ['a result of ten megabytes', "'x'.repeat(1e7)", 'script_result'],
      [
        'a result that is nested too deeply',
        "JSON.parse('['.repeat(9e3) + ']'.repeat(9e3))",
        'script_result|script_error',
      ],
      ['an argument of ten megabytes', "await $.Echo.get('x'.repeat(1e7))", 'script_error'],
      ['waiting for what never comes', 'await new Promise(() => {})', 'script_error'],
      ['a result that is no JSON', 'const a: any = {}; a.a = a; a', 'script_error'],
      ['a big number as a result', '10n', 'script_error'],
      ['an error of its own', "throw new TypeError('not so')", 'script_error'],
      ['something thrown that is no error', 'throw { message: { toString() { for (;;); } } }', 'script_timeout'],
    ])('%s', async (_, code, expected) => {
      if (code === DEAF && !interpreter.stopsDeaf) return
      const { error } = await run(code, {
        timeMs: /^script_\(?timeout/.test(expected) ? 600 : 60_000,
        ...(expected === 'script_memory' && { memoryBytes: 16 * 2 ** 20 }),
      })

      expect(error?.code).toMatch(new RegExp(`^(${expected})$`))
      expect(error?.message).not.toMatch(/\/|node:|wasm/)
    })

    test('memory is bound where it is said to be', async () => {
      expect(await run('new Uint8Array(48 * 2 ** 20).length')).toMatchObject({ result: 48 * 2 ** 20 })
      expect((await run('new Uint8Array(72 * 2 ** 20).length')).error?.code).toBe('script_memory')
      expect((await run(pieces(72))).error?.code).toBe('script_memory')
      expect(await run(pieces(48))).toMatchObject({ result: 48 })
      expect((await run('new Uint8Array(12 * 2 ** 20).length', { memoryBytes: 8 * 2 ** 20 })).error?.code).toBe(
        'script_memory',
      )
    })

    test('a hook is stopped by the time it computes', async () => {
      expect((await run('for (;;);', { cpuMs: 50, timeMs: 4_000 })).error).toMatchObject({
        code: 'script_timeout',
        message: expect.stringContaining('50 ms of computing'),
      })
    })

    test('a flood of log lines is cut', async () => {
      const { logs } = await run("for (let i = 0; i < 2e3; i++) console.log('x'.repeat(100), i); 1", { timeMs: 9_000 })

      expect(logs.join('\n').length).toBeLessThan(110_000)
      expect(logs.at(-1)).toContain('more')
    })

    test('an error tells its line', async () => {
      expect((await run('const a = 1\n\nnull.b')).error?.message).toContain('(line 3)')
    })

    test('other code runs meanwhile', async () => {
      const endless = run(interpreter.stopsDeaf ? DEAF : 'for (;;);', { timeMs: 1_500 })

      expect(await run('1 + 1', { owner: 'other' })).toMatchObject({ result: 2 })
      expect((await endless).error?.code).toBe('script_timeout')
    })
  })
})

test('an owner with much code does not keep out another', async () => {
  const own = openScript({ most: 2 })
  const runFor = (owner: string, code: string) =>
    own.run({ ...LIMITS, code, owner, timeMs: 60_000, call: async () => null })
  const greedy = Array.from({ length: 4 }, () => runFor('greedy', 'for (;;);'))

  expect(await runFor('modest', '1')).toMatchObject({ result: 1 })
  await own.close()
  expect((await Promise.all(greedy)).map(({ error }) => error?.code)).toEqual(Array(4).fill('busy'))
})

/** Code that keeps so many MiB in pieces of one. */
function pieces(count: number): string {
  return `const a = []; for (let i = 0; i < ${count}; i++) a.push(new Uint8Array(2 ** 20)); a.length`
}

const LIMITS = { owner: 'acme', timeMs: 9_000, memoryBytes: 64 * 1_048_576, operations: 20, resultLength: 1_048_576 }

async function onNode(): Promise<Interpreter> {
  const script = openScript({ most: 2 })
  return {
    stopsDeaf: true,
    async run(code, { pauseMs = 0, ...options }) {
      const seen: string[] = []
      const answer = await script.run({
        ...LIMITS,
        ...options,
        code,
        call: async (name, args) => {
          if (name === 'Fail.now') throw new Error('a fault with /a/path')
          if (pauseMs > 0) await new Promise((done) => setTimeout(done, pauseMs))
          seen.push(name)
          return [name, ...args]
        },
      })
      return { answer, seen }
    },
    stop: () => script.close(),
  }
}

async function onWorkerd(): Promise<Interpreter> {
  const workerd: Workerd = await startWorkerd({
    entry: 'test/hosts/script-worker.ts',
    objects: { OBJECTS: 'Runner' },
  })
  return {
    stopsDeaf: false,
    async run(code, options) {
      const body = JSON.stringify({ ...LIMITS, ...options, code })
      return (await (await fetch(`${workerd.url}/acme`, { method: 'POST', body })).json()) as Ran
    },
    stop: () => workerd.stop(),
  }
}
