import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { HOOK_LIMITS } from './limits.ts'
import { noScript } from './no-script.ts'

/** Refuses code that is not a function, before any write depends on it. */
export async function checkCode({ ports, slug }: Engine, code: string): Promise<void> {
  if (!ports.script) throw noScript()
  const { result, error } = await ports.script.run({
    ...HOOK_LIMITS,
    code: `typeof (${code}\n)`,
    owner: slug,
    call: async () => null,
  })
  if (error) throw new Problem(error.code, error.message, { field: 'code' })
  if (result === 'function') return
  throw new Problem('script_error', '… => A hook must be a function: (entity, $, args) => … => …', { field: 'code' })
}
