import fc from 'fast-check'
import { expect, test } from 'vitest'
import { openScript } from './script.ts'

/** Reports what others left behind wherever code can leave something, and leaves its own there. */
const LEAVE = `
const places = {
  global: globalThis, object: Object.prototype, array: Array.prototype, function: Function.prototype, text: String.prototype,
  promise: Promise.prototype, error: Error.prototype, regexp: RegExp.prototype, map: Map.prototype, symbol: Symbol.prototype,
  async: Object.getPrototypeOf(async () => {}), generator: Object.getPrototypeOf(function* () {}).prototype,
  typed: Object.getPrototypeOf(Uint8Array.prototype), json: JSON, math: Math, reflect: Reflect, session: $, console,
  log: console.log, then: Promise.prototype.then,
}
const seen = Object.entries(places).filter(([, place]) => Object.hasOwn(place, 'left')).map(([name]) => name)
for (const place of Object.values(places)) Reflect.defineProperty(place, 'left', { value: who })
if (JSON.stringify([1]) !== '[1]' || Math.random.length !== 0 || typeof [].push !== 'function') seen.push('the language')
`

/** What code does when it has looked around: it changes the language, fails, is stopped, or leaves work behind. */
const ENDS = {
  calm: '({ seen, told: await $.Echo.get(who) })',
  spoil: `
    const told = await $.Echo.get(who)
    JSON.stringify = () => who; Array.prototype.push = null; Promise.prototype.then = null; Map.prototype.get = null
    Object.freeze(Object.prototype); delete globalThis.Error
    ;({ seen, told })`,
  linger: `
    const told = await $.Echo.get(who)
    $.Echo.get(who); $.Echo.get(who).then(() => { globalThis.left = 'late' })
    ;({ seen, told })`,
  break: "console.log(seen.join()); await $.Echo.get(who); throw new Error('broken')",
  burst: 'console.log(seen.join()); await $.Echo.get(who); new ArrayBuffer(2 ** 30)',
} as const

type End = keyof typeof ENDS
const FAILURES: { readonly [end in End]?: string } = { break: 'script_error', burst: 'script_memory' }
const WHO = ['acme', 'beta', 'corp', 'dyno']

test('later runs do not see what code leaves in an interpreter, neither of others nor of the same owner', async () => {
  const run = fc.record({ who: fc.constantFrom(...WHO), end: fc.constantFrom(...(Object.keys(ENDS) as End[])) })

  await fc.assert(
    // Each begins with cold workers, which it then keeps warm.
    fc.asyncProperty(fc.array(run, { minLength: 60, maxLength: 60 }), async (runs) => {
      const script = openScript({ most: 2 })
      try {
        const seen = await Promise.all(runs.map(({ who, end }) => lookAround(script, who, end)))
        expect(seen).toEqual(runs.map(() => ''))
      } finally {
        await script.close()
      }
    }),
    { numRuns: 2 },
  )
})

test('nor after so many runs that the memory is renewed', async () => {
  const script = openScript({ most: 1 })
  const seen = await Promise.all(Array.from({ length: 250 }, () => lookAround(script, 'acme', 'calm')))
  await script.close()

  expect(seen.filter((one) => one !== '')).toEqual([])
})

/** Runs code for an owner and returns the values of others that it saw. */
async function lookAround(script: ReturnType<typeof openScript>, who: string, end: End): Promise<string> {
  const strangers: unknown[] = []
  const { result, logs, error } = await script.run({
    code: `${LEAVE};${ENDS[end]}`,
    owner: who,
    timeMs: 60_000,
    memoryBytes: 64 * 1_048_576,
    operations: 20,
    resultLength: 1_048_576,
    values: { who },
    call: async (_, [name]) => {
      if (name !== who) strangers.push(name)
      return name ?? null
    },
  })
  const failure = FAILURES[end]
  if (failure !== undefined) {
    expect(error?.code).toBe(failure)
    return [...logs, ...strangers].join()
  }
  expect(result).toMatchObject({ told: who })
  return [...(result as { seen: string[] }).seen, ...strangers].join()
}
