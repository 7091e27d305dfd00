import { type JsonObject, Problem } from '@tildebase/nouns'

/** What a hook is handed in addition to the entity: the tenant's data, under the hook's own name. */
// biome-ignore lint/suspicious/noExplicitAny: the operations depend on types that the tenant declares.
type HookContext = any

/** Runs before the verb, inside its transaction. May return fields to change in the payload, or throw to refuse. */
export type BeforeHook = (entity: JsonObject, $: HookContext, args: JsonObject) => JsonObject | undefined

/** Runs once the event is durable. May run again after a failure or a crash: make it repeatable. */
export type AfterHook = (entity: JsonObject, $: HookContext, event: JsonObject) => unknown

/** The hooks of the embedding program, by `Type.step`: `Contact.qualifying`, `Contact.qualified`. */
export class Hooks {
  readonly #hooks = new Map<string, (BeforeHook | AfterHook)[]>()

  add(type: string, step: string, hook: BeforeHook | AfterHook): void {
    const name = `${type}.${step}`
    this.#hooks.set(name, [...(this.#hooks.get(name) ?? []), hook])
  }

  before(type: string, step: string): readonly BeforeHook[] {
    return this.#of(type, step) as readonly BeforeHook[]
  }

  after(type: string, event: string): readonly AfterHook[] {
    return this.#of(type, event) as readonly AfterHook[]
  }

  #of(type: string, step: string): readonly (BeforeHook | AfterHook)[] {
    // Most programs have none: every write asks several times.
    return this.#hooks.size === 0 ? NONE : (this.#hooks.get(`${type}.${step}`) ?? NONE)
  }
}

const NONE: readonly never[] = []

/** Registers hooks by name: `on.Contact.qualifying((contact) => …)`. */
export type HookRegistry = {
  readonly [type: string]: { readonly [step: string]: (hook: BeforeHook | AfterHook) => void }
}

/** The registry that fills `hooks`. */
export function registryOf(hooks: Hooks): HookRegistry {
  return new Proxy({} as HookRegistry, {
    get: (_, type) =>
      new Proxy({} as HookRegistry[string], {
        get: (_, step) => (hook: BeforeHook | AfterHook) => hooks.add(String(type), String(step), hook),
      }),
  })
}

/** The problem of a verb that a BEFORE hook refused, with the hook's own sentence. */
export function rejected(type: string, verb: string, reason: unknown): Problem {
  if (reason instanceof Problem) return reason
  const message = reason instanceof Error ? reason.message : String(reason)
  return new Problem('rejected', message || `A hook refused ${verb} on this ${type}.`, { type })
}
