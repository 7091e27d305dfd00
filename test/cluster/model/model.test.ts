import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { Chance } from '../../chance.ts'
import { verifies } from '../../verifies.ts'
import { type Compiled, type Machine, machineOf, type State } from './compile.ts'
import { BEGIN, COUNTEREXAMPLES } from './counterexamples.ts'
import { follow, stepOf, walk } from './explore.ts'
import { compileModel, MODEL, simulate } from './quint.ts'
import { replay } from './replay.ts'

const PAGE = join(import.meta.dirname, '../../../docs/design/cluster-model.md')
const PROTOCOL = join(import.meta.dirname, 'protocol.qnt')
const WALKS = Number(process.env.TILDE_MODEL_WALKS ?? 600)
const LENGTH = 45

let compiled: Compiled
beforeAll(() => {
  compiled = compileModel()
})

const without = (guards: readonly string[], canGoBack = true) =>
  machineOf(compiled, { WITHOUT: guards, GOES_BACK: canGoBack })

/** The steps that are possible, up to the first that is not. */
function possible(machine: Machine, steps: readonly string[]): readonly State[] {
  for (let length = steps.length; ; length--) {
    const states = follow(machine, steps.slice(0, length))
    if (states) return states
  }
}

const isSafe = (machine: Machine, states: readonly State[]) =>
  states.every((state) => machine.value('safe', state) === true)

describe.each(COUNTEREXAMPLES)('without $without', ({ without: guards, violates, steps }) => {
  test(`a history violates ${violates}`, () => {
    const machine = without(guards)

    const states = follow(machine, steps)

    expect(states).not.toBeNull()
    expect(isSafe(machine, states!.slice(0, -1))).toBe(true)
    expect(machine.value(violates, states!.at(-1)!)).toBe(false)
  })

  test('the same history is safe, or impossible, with each of the guards alone', () => {
    for (const guard of guards) {
      const machine = without(guards.filter((one) => one !== guard))

      expect(isSafe(machine, possible(machine, steps)), guard).toBe(true)
    }
  })

  test('the code takes the same history as the model with all guards', async () => {
    expect(await replay(possible(without([]), steps))).toBeNull()
  })
})

test('every guard of the model has a counterexample, and the page names it', () => {
  const text = [MODEL, PROTOCOL].map((path) => readFileSync(path, 'utf8')).join()
  const guards = new Set([...text.matchAll(/has\("(\w+)"\)/g)].map(([, guard]) => guard!))
  const page = readFileSync(PAGE, 'utf8')

  expect(new Set(COUNTEREXAMPLES.flatMap(({ without }) => without))).toEqual(guards)
  expect([...guards].filter((guard) => !page.includes(`\`${guard}\``))).toEqual([])
})

verifies(
  ['cluster.protocol', 'cluster.fence', 'cluster.gate', 'cluster.timeline'],
  'random histories of the model keep all invariants, and the code takes each of their steps as the model does',
  async () => {
    const taken = new Set<string>()
    for (const canGoBack of [false, true]) {
      const machine = without([], canGoBack)
      for (let seed = 1; seed <= WALKS / 2; seed++) {
        const { states, steps, isSafe } = walk(machine, new Chance(seed), seed % 3 === 0 ? [] : BEGIN, LENGTH, 'safe')
        expect(isSafe, steps.join(', ')).toBe(true)
        expect(await replay(states)).toBeNull()
        for (const { did } of states) taken.add((did as { step: string }).step)
      }
    }

    const all = [...readFileSync(MODEL, 'utf8').matchAll(/did' = \{ step: "(\w+)"/g)].map(([, step]) => step!)
    expect(all.filter((step) => !taken.has(step))).toEqual([])
  },
)

verifies(
  'cluster.protocol',
  'traces of Quint itself are those of the translated model, and the code takes them',
  async () => {
    const machine = without([], false)

    const traces = simulate(6, 50, 7)

    expect(traces).toHaveLength(6)
    for (const trace of traces) {
      const steps = trace.slice(1).map(({ did }) => stepOf(did))
      expect(follow(machine, steps)).toEqual(trace)
      expect(await replay(trace)).toBeNull()
    }
  },
)
