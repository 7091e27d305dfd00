import type { Json, JsonObject } from '@tildebase/nouns'

/** What the values of a step can refer to: the event, and what the steps before gave. */
export interface Sources {
  readonly event: JsonObject
  readonly steps: readonly (Json | undefined)[]
}

const REFERENCE = /^\$(?:event|steps\.(\d+))(?:\.(.+))?$/

/** A value with `$event.…` and `$steps.<n>.…` replaced by what they refer to; undefined when that is not there. */
export function resolve(value: Json, sources: Sources): Json | undefined {
  if (typeof value === 'string') return resolveText(value, sources)
  if (Array.isArray(value)) return value.map((one) => resolve(one, sources) ?? null)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).flatMap(([key, one]) => {
    const resolved = resolve(one, sources)
    return resolved === undefined ? [] : [[key, resolved] as const]
  })
  return Object.fromEntries(entries)
}

/** What is wrong with the references of a step: it can refer to the steps before it. */
export function faultsIn(value: Json | undefined, step: number): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => faultsIn(one, step))
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap((one) => faultsIn(one, step))
  if (typeof value !== 'string' || !/^\$(?:event|steps)\b/.test(value)) return []
  const reference = REFERENCE.exec(value)
  if (!reference) return [`${value.slice(0, 60)} is not a reference, such as $event.data.name or $steps.0.$id`]
  const [, at] = reference
  return at !== undefined && Number(at) >= step ? [`${value.slice(0, 60)} refers to a step that has not run yet`] : []
}

function resolveText(text: string, { event, steps }: Sources): Json | undefined {
  const reference = REFERENCE.exec(text)
  if (!reference) return text
  const [, step, path] = reference
  let value: Json | undefined = step === undefined ? event : steps[Number(step)]
  for (const name of path?.split('.') ?? []) {
    value = typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? within(value, name) : undefined
  }
  return value
}

function within(value: JsonObject | readonly Json[], name: string): Json | undefined {
  return (value as JsonObject)[name]
}
