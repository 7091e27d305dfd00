import type { Engine } from '../engine/engine.ts'
import { type StoredHook, storedHooks } from '../store/hooks.ts'

/** The code that the tenant stores for a step of a type: `Contact`, `qualifying`. A suspended hook does not run. */
export function storedHook(engine: Engine, type: string, step: string): StoredHook | undefined {
  const hooks = hooksByStep(engine)
  const hook = hooks.size === 0 ? undefined : hooks.get(`${type}.${step}`)
  return hook?.suspended ? undefined : hook
}

/** Whether the tenant stores any hook at all. */
export function hasStoredHooks(engine: Engine): boolean {
  return hooksByStep(engine).size > 0
}

/** All hooks that the tenant stores, by `Type.step`. */
export function hooksByStep(engine: Engine): ReadonlyMap<string, StoredHook> {
  return engine.cache.get(
    ['Hook'],
    'stored hooks',
    () => new Map(storedHooks(engine.sql).map((hook) => [`${hook.type}.${hook.name}`, hook])),
  )
}
