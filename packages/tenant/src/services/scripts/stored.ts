import { listed, type Noun, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { currentOf } from '../../store/entities.ts'
import { type StoredHook, storedHooks } from '../../store/hooks.ts'
import { MOST_CODE } from './limits.ts'

/** The code that the tenant stores for a step of a type: `Contact`, `qualifying`. */
export function storedHook(tenant: Engine, type: string, step: string): StoredHook | undefined {
  const hooks = hooksByStep(tenant)
  return hooks.size === 0 ? undefined : hooks.get(`${type}.${step}`)
}

/** Whether the tenant stores any hook at all. */
export function hasStoredHooks(tenant: Engine): boolean {
  return hooksByStep(tenant).size > 0
}

/** The hooks that a type has. */
export function hooksOf(tenant: Engine, type: string): StoredHook[] {
  return [...hooksByStep(tenant).values()].filter((hook) => hook.type === type)
}

/** The steps of a type that a hook can stand at. */
export function stepsOf(noun: Noun): { before: string[]; after: string[] } {
  const verbs = Object.values(noun.verbs)
  return {
    before: [...new Set(verbs.map((verb) => verb.before))],
    after: [...new Set(verbs.map((verb) => verb.event))],
  }
}

/** Refuses a name that is no step of the type. */
export function demandStep(noun: Noun, step: string): void {
  const { before, after } = stepsOf(noun)
  if (before.includes(step) || after.includes(step)) return
  throw new Problem(
    'not_found',
    `${noun.name} has no step ${step.slice(0, 60)}. Before a verb there are ${listed(before, 'and')}; after one ${listed(after, 'and')}.`,
    { type: noun.name, steps: [...before, ...after] },
  )
}

/** Stores code for a step, in place of what was there. The code has been tried before. */
export function putHook(tenant: Engine, noun: Noun, step: string, code: string, actor: string): boolean {
  const id = idOf(noun, step)
  const current = currentOf(tenant.sql, 'Hook', id)
  const data = { type: noun.name, name: step, code }
  if (!current) tenant.act({ type: 'Hook', verb: 'create', data: { $id: id, ...data }, keepId: true, actor })
  else {
    if (current.deleted) tenant.act({ type: 'Hook', verb: 'restore', id, actor })
    tenant.act({ type: 'Hook', verb: 'update', id, data, actor })
  }
  return !current || current.deleted
}

/** Takes the code of a step away. */
export function dropHook(tenant: Engine, noun: Noun, step: string, actor: string): void {
  demandHook(tenant, noun, step)
  tenant.act({ type: 'Hook', verb: 'delete', id: idOf(noun, step), actor })
}

/** The code of a step, or the problem of there being none. */
export function demandHook(tenant: Engine, noun: Noun, step: string): StoredHook {
  demandStep(noun, step)
  const hook = storedHook(tenant, noun.name, step)
  if (hook) return hook
  throw new Problem('not_found', `${noun.name} has no hook ${step}. PUT one to store it.`, {
    type: noun.name,
    id: step,
  })
}

/** The code of a body, or a problem. */
export function codeOf(body: unknown): string {
  const code = (body as { code?: unknown } | null | undefined)?.code
  if (typeof code !== 'string' || code.trim() === '') {
    throw new Problem('invalid_body', 'Send the code as text: {"code": "…"}.', { field: 'code' })
  }
  if (code.length > MOST_CODE) {
    throw new Problem('too_large', `The code may have ${MOST_CODE} characters; this has ${code.length}.`, {
      field: 'code',
      limit: MOST_CODE,
    })
  }
  return code
}

function hooksByStep(tenant: Engine): ReadonlyMap<string, StoredHook> {
  return tenant.cache.get(
    ['Hook'],
    'stored hooks',
    () => new Map(storedHooks(tenant.sql).map((hook) => [`${hook.type}.${hook.name}`, hook])),
  )
}

function idOf(noun: Noun, step: string): string {
  return `hook_${noun.name}-${step}`
}
