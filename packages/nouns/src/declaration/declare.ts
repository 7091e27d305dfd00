import type { JsonObject, Noun } from '../noun.ts'
import { Problem } from '../problem.ts'
import type { Code, HooksOf, KnownNouns, WithBuiltIn, WorkflowCode } from './code-types.ts'
import type { Declared, RoleDeclaration, ViewDeclaration, WebhookDeclaration } from './declaration.ts'

/** A role of the tenant's people: `role('Seller', { scopes: 'write:crm' })`. */
export function role(name: string, body: RoleDeclaration): Declared<'roles'> {
  return { declares: 'roles', name, body }
}

/** Code before and after the verbs of a type: `hooks(Ship, { launching(ship) { … } })`. It is stored and runs in the sandbox. */
export function hooks<const T extends Noun | keyof KnownNouns>(
  type: T,
  steps: HooksOf<T extends Noun ? WithBuiltIn<T> : KnownNouns[T & keyof KnownNouns]>,
): Declared<'hooks'> {
  const name = typeof type === 'object' ? type.name : String(type)
  const body = Object.entries(steps as { readonly [step: string]: Code<unknown> }).map(([step, code]) => [
    step,
    textOf(code, `${name}.${step}`),
  ])
  return { declares: 'hooks', name, body: Object.fromEntries(body) }
}

/** A workflow: what starts it, and its steps. It is activated when it is first pushed, unless `active` is false. */
export interface WorkflowDeclaration<Pattern extends string = string> {
  readonly description?: string
  /** An event pattern: `Deal.won`. */
  readonly triggerEvent?: Pattern
  /** A filter over the event's `data`. */
  readonly filter?: JsonObject
  /** Cron: `0 8 * * 1 Europe/Berlin`. */
  readonly schedule?: string
  readonly steps: readonly WorkflowStep<Pattern>[]
  readonly retryPolicy?: { readonly retries?: number; readonly backoff?: string }
  readonly errorHandling?: 'Stop' | 'Continue' | 'Fallback'
  /** Seconds. */
  readonly timeout?: number
  /** Given: every push activates or pauses it. Absent: it is activated once. */
  readonly active?: boolean
}

/** A step: code as a function of the event, or one of the steps that are data. */
type WorkflowStep<Pattern extends string> = {
  readonly name?: string
  /** A filter over `{event, steps}`: a step that does not match is skipped. */
  readonly if?: JsonObject
  /** Runs if a later step fails permanently. */
  readonly undo?: WorkflowStep<Pattern>
  readonly fallback?: boolean
} & ({ readonly code: Code<WorkflowCode<Pattern>> } | { readonly [part: string]: unknown; readonly code?: never })

/** A workflow: `workflow('Welcome', { triggerEvent: 'Contact.created', steps: [{ code: async (event, $) => { … } }] })`. */
export function workflow<const Pattern extends string = string>(
  name: string,
  { steps, ...rest }: WorkflowDeclaration<Pattern>,
): Declared<'workflows'> {
  const texts = steps.map((step, i) => stepOf(step, `${name}, step ${i}`))
  return { declares: 'workflows', name, body: { ...rest, steps: texts } as unknown as JsonObject }
}

/** A step with the text of its code, and of that which undoes it. */
function stepOf<Pattern extends string>({ code, undo, ...step }: WorkflowStep<Pattern>, where: string): unknown {
  return {
    ...step,
    ...(code !== undefined && { code: textOf(code, where) }),
    ...(undo !== undefined && { undo: stepOf(undo, `${where}, undo`) }),
  }
}

/** A view of the console that is shared: `view('Open deals', { type: 'Deal', filter: { stage: 'Proposal' } })`. */
export function view(name: string, body: ViewDeclaration): Declared<'views'> {
  return { declares: 'views', name, body }
}

/** A webhook. Its name is stored as its description: `webhook('Billing', { url, events: ['Invoice.paid'] })`. */
export function webhook(name: string, body: WebhookDeclaration): Declared<'webhooks'> {
  return { declares: 'webhooks', name, body }
}

/** The text of code that is stored: a function expression. */
function textOf(code: Code<unknown>, where: string): string {
  if (typeof code === 'string') return code
  if (typeof code !== 'function') throw new Problem('invalid_schema', `${where}: must be a function, or its code.`)
  const text = Function.prototype.toString.call(code)
  if (/^(?:async\s+)?(?:function\b|\(|[A-Za-z_$][\w$]*\s*=>)/.test(text)) return text
  // `launching(ship) { … }` in an object is a method: the same as a function of that name.
  const [, isAsync = '', rest] = /^(async\s+)?([A-Za-z_$][\w$]*\s*\([\s\S]*)$/.exec(text) ?? []
  if (rest !== undefined) return `${isAsync}function ${rest}`
  throw new Problem('invalid_schema', `${where}: write it as an arrow function, (entity, $) => ….`)
}
