import { listed, type Noun, Problem } from '@tildebase/nouns'
import { changes, demandReach } from '../../authorship/reach.ts'
import { demandCovers, store } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import { demandArea, type Grant } from '../../grant/grant.ts'
import { failedHooks } from '../../store/automation/after-hook-queue.ts'
import type { StoredHook } from '../../store/automation/hooks.ts'
import { currentOf } from '../../store/entities.ts'
import { authoredHook, hookForm, hooksByStep, hookThing } from '../../write/stored-hooks.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { MOST_CODE } from './limits.ts'

const MOST_FAILURES = 20

/** A stored hook as administrators see it, with its newest failures. */
export interface HookView extends Pick<StoredHook, 'type' | 'name' | 'code' | 'version'> {
  readonly runs: 'before' | 'after'
  readonly suspended: boolean
  readonly failures: readonly { seq: number; failures: number; error: string; due: number | null }[]
}

/** The hooks of a type. */
export function hooksOf(engine: Engine, grant: Grant, noun: Noun): HookView[] {
  demandHooks(grant)
  const hooks = [...hooksByStep(engine).values()].filter((hook) => hook.type === noun.name)
  return hooks.map((hook) => viewOf(engine, noun, hook))
}

/** The hook at a step of a type, or the problem of there being none. */
export function hookAt(engine: Engine, grant: Grant, noun: Noun, step: string): HookView {
  demandHooks(grant)
  demandStep(noun, step)
  const hook = hooksByStep(engine).get(`${noun.name}.${step}`)
  if (hook) return viewOf(engine, noun, hook)
  throw new Problem('not_found', `${noun.name} has no hook ${step}. PUT one to store it.`, {
    type: noun.name,
    id: step,
  })
}

/** The steps of a type that a hook can run at. */
export function stepsOf(noun: Noun): { before: string[]; after: string[] } {
  const verbs = Object.values(noun.verbs)
  return {
    before: [...new Set(verbs.map((verb) => verb.before))],
    after: [...new Set(verbs.map((verb) => verb.event))],
  }
}

/** Refuses to store a hook that the grant may not store. A hook sees every entity of its type and can refuse writes. */
export function demandHook(grant: Grant, noun: Noun, step: string): void {
  demandHooks(grant)
  if (grant.limits)
    throw new Problem('forbidden', 'An agent with limits cannot store hooks: they would run without them.')
  demandReach(grant, 'hook', [changes(noun, true)])
  demandStep(noun, step)
}

/** Stores code for a step, in place of what was there. It runs with the rights of the caller. */
export function putHook(write: Write, noun: Noun, step: string, code: string): boolean {
  const { sql, grant } = write
  demandHook(grant, noun, step)
  const id = idOf(noun, step)
  const current = currentOf(sql, 'Hook', id)
  const before = current && !current.deleted ? hooksByStep(write.engine).get(`${noun.name}.${step}`) : undefined
  if (before) demandCovers(write.engine, grant, authoredHook(write.engine, before), 'hook')
  const hook = { id, type: noun.name, name: step, code }
  store(write, hookThing(hook), hookForm(hook), [changes(noun, true)])
  const data = { type: noun.name, name: step, code, grant: null, suspended: false }
  if (!current) applyVerb(write, { type: 'Hook', verb: 'create', data: { $id: id, ...data } as never, keepId: true })
  else {
    if (current.deleted) applyVerb(write, { type: 'Hook', verb: 'restore', id })
    applyVerb(write, { type: 'Hook', verb: 'update', id, data })
  }
  return !current || current.deleted
}

/** Removes the code of a step. */
export function dropHook(write: Write, noun: Noun, step: string): void {
  const { engine, grant } = write
  hookAt(engine, grant, noun, step)
  demandCovers(engine, grant, authoredHook(engine, hooksByStep(engine).get(`${noun.name}.${step}`)!), 'hook')
  applyVerb(write, { type: 'Hook', verb: 'delete', id: idOf(noun, step) })
}

/** The code of a body, or a problem. */
export function codeOf(body: unknown): string {
  const code = (body as { code?: unknown } | null | undefined)?.code
  if (typeof code !== 'string' || code.trim() === '') {
    throw new Problem('invalid_body', 'Send the code as a string: {"code": "…"}.', { field: 'code' })
  }
  if (code.length > MOST_CODE) {
    throw new Problem('too_large', `The code may have at most ${MOST_CODE} characters; this has ${code.length}.`, {
      field: 'code',
      limit: MOST_CODE,
    })
  }
  return code
}

function demandHooks(grant: Grant): void {
  demandArea(grant, 'admin', 'platform')
}

/** Refuses a name that is not a step of the type. */
function demandStep(noun: Noun, step: string): void {
  const { before, after } = stepsOf(noun)
  if (before.includes(step) || after.includes(step)) return
  throw new Problem(
    'not_found',
    `${noun.name} has no step ${step.slice(0, 60)}. The BEFORE steps are ${listed(before, 'and')}; the AFTER steps are ${listed(after, 'and')}.`,
    { type: noun.name, steps: [...before, ...after] },
  )
}

function viewOf({ sql }: Engine, noun: Noun, hook: StoredHook): HookView {
  const { id, type, name, code, version, suspended } = hook
  const failures = failedHooks(sql, id, MOST_FAILURES)
  const runs = stepsOf(noun).before.includes(name) ? 'before' : 'after'
  return { type, name, runs, code, version, suspended, failures }
}

function idOf(noun: Noun, step: string): string {
  return `hook_${noun.name}-${step}`
}
