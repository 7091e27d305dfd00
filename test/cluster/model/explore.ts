import type { Chance } from '../../chance.ts'
import type { Machine, State } from './compile.ts'

/** A step of the model: `write n1`, `tick 5`. */
export type Step = string

/** Steps that bring no request forward are taken less often. */
const RARE = /^(?:start|tick|sleep|crash|failOver|keep|goBack|reopen|.*Fails|beatSlowly|leave|copyFile|appendLate)\b/
const USUAL = 8

export function stepOf(did: unknown): Step {
  const { step, node, arg } = did as { step: string; node: string; arg: number }
  return [step, node, arg || ''].filter((part) => part !== '').join(' ')
}

/** Takes steps one after the other. Null when one of them is not possible. */
export function follow(machine: Machine, steps: readonly Step[], from = machine.initial()): readonly State[] | null {
  const states = [from]
  for (const step of steps) {
    const option = machine.options(states.at(-1)!).find(({ variable }) => stepOf(variable('did')) === step)
    if (!option) return null
    states.push(option.state())
  }
  return states
}

/** A history that begins with some steps and continues as the chance decides, until it violates an invariant. */
export function walk(
  machine: Machine,
  chance: Chance,
  begin: readonly Step[],
  length: number,
  invariant: string,
): { readonly steps: readonly Step[]; readonly states: readonly State[]; readonly isSafe: boolean } {
  const states = [...follow(machine, begin)!]
  const steps = [...begin]
  while (steps.length < length) {
    const options = machine.options(states.at(-1)!).map((option) => ({ option, step: stepOf(option.variable('did')) }))
    const { option, step } = chance.pick(
      options.flatMap((one) => Array.from({ length: RARE.test(one.step) ? 1 : USUAL }, () => one)),
    )
    const state = option.state()
    steps.push(step)
    states.push(state)
    if (machine.value(invariant, state) !== true) return { steps, states, isSafe: false }
  }
  return { steps, states, isSafe: true }
}
