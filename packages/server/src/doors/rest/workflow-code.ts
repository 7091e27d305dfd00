import { invalid, isPlainObject, Problem } from '@tildebase/nouns'
import type { Call } from '../call.ts'

/** Refuses a workflow whose code cannot run, before it is stored. Null for what has no code. */
export function checkWorkflowCode(call: Call): Promise<Call> | null {
  const steps = isPlainObject(call.body) ? call.body.steps : undefined
  if (!Array.isArray(steps) || call.read.nouns.get(call.params.type ?? '')?.name !== 'Workflow') return null
  const codes = steps.flatMap((step, i) =>
    isPlainObject(step) && typeof step.code === 'string' ? [[i, step.code] as const] : [],
  )
  return codes.length === 0 ? null : checked(call, codes)
}

async function checked(call: Call, codes: readonly (readonly [number, string])[]): Promise<Call> {
  const { read, tenant } = call
  // Code of a key that may not store a workflow is not even read.
  if (!read.may('write', read.noun('Workflow'))) return call
  for (const [i, code] of codes) {
    try {
      await tenant.checkHookCode(code)
    } catch (reason) {
      if (!(reason instanceof Problem) || reason.code !== 'script_error') throw reason
      const message = `the code must be a function, (event, $, steps) => …. ${reason.message}`
      throw invalid('Workflow', [{ field: `steps.${i}`, message }])
    }
  }
  return call
}
