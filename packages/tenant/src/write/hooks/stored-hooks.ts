import { type Authored, authored, type Thing } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { type StoredHook, storedHooks } from '../../store/automation/hooks.ts'

/** A hook that runs: its code comes with the rights of its author only. */
export interface RunnableHook extends Pick<StoredHook, 'id' | 'type' | 'name' | 'version'> {
  readonly code: Authored<string>
}

/** A hook as a stored thing. */
export function hookThing({ id, type, name }: Pick<StoredHook, 'id' | 'type' | 'name'>): Thing {
  return { kind: 'hook', id, actor: `hook:${type}.${name}` }
}

/** What an author of a hook stores. */
export function hookForm({ type, name, code }: Pick<StoredHook, 'type' | 'name' | 'code'>) {
  return { type, name, code }
}

/** The author of a hook, with its code; null when no caller stored this code. */
export function authoredHook(engine: Engine, hook: Omit<StoredHook, 'version' | 'suspended'>): Authored<string> | null {
  return authored(engine, hookThing(hook), hook.code, hookForm(hook))
}

/** The code that the tenant stores for a step of a type: `Contact`, `qualifying`. A suspended hook does not run. */
export function storedHook(engine: Engine, type: string, step: string): RunnableHook | undefined {
  const hooks = runnable(engine)
  return hooks.size === 0 ? undefined : hooks.get(`${type}.${step}`)
}

/** Whether the tenant stores any hook at all. */
export function hasStoredHooks(engine: Engine): boolean {
  return hooksByStep(engine).size > 0
}

/** All hooks that the tenant stores, by `Type.step`, to look at. */
export function hooksByStep(engine: Engine): ReadonlyMap<string, StoredHook> {
  return engine.cache.get(
    ['Hook'],
    'stored hooks',
    () => new Map(storedHooks(engine.sql).map((hook) => [`${hook.type}.${hook.name}`, hook])),
  )
}

function runnable(engine: Engine): ReadonlyMap<string, RunnableHook> {
  return engine.cache.get(['Hook'], 'runnable hooks', () => {
    const hooks = [...hooksByStep(engine)].filter(([, hook]) => !hook.suspended)
    return new Map(
      hooks.flatMap(([step, hook]) => {
        const code = authoredHook(engine, hook)
        const { id, type, name, version } = hook
        return code ? [[step, { id, type, name, version, code }] as const] : []
      }),
    )
  })
}
