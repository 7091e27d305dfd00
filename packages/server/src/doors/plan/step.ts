import type { JsonObject } from '@tildebase/nouns'

/** A change of a part of a type or of another declared thing: null where it is not there. */
export interface PartChange {
  readonly part: string
  readonly from: unknown
  readonly to: unknown
}

/** One step of a plan: an ordinary request, and what it does. */
export interface Step {
  readonly action: 'create' | 'change' | 'rename' | 'convert' | 'delete'
  readonly kind: 'type' | 'role' | 'hook' | 'workflow' | 'view' | 'webhook'
  /** `Ship`, `Ship.launching`, `Welcome`. */
  readonly name: string
  readonly changes: readonly PartChange[]
  /** How many entities have a value in a field that the type no longer has, or 1 for a thing that is deleted. */
  readonly loses: number
  /** How many entities a migration changes; null if the plan was not tried to its end. */
  readonly migrates: number | null
  /** Advice for the author. */
  readonly hint?: string
  readonly request: PlannedRequest
}

export interface PlannedRequest {
  readonly method: 'POST' | 'PUT' | 'DELETE'
  /** Below the tenant. */
  readonly path: string
  readonly body?: JsonObject
}

/** A thing of the tenant that the declaration does not have. */
export interface Other {
  readonly kind: Step['kind']
  readonly name: string
}

/** Reads a list of the tenant, with turns for others while that takes long. */
export type Ask = (path: string, query: { readonly [name: string]: unknown }) => Promise<unknown>

/** The parts that differ between two declarations of one thing. */
export function changesBetween(
  before: { readonly [part: string]: unknown },
  after: { readonly [part: string]: unknown },
  same: (a: unknown, b: unknown) => boolean,
): PartChange[] {
  const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])]
  return parts.flatMap((part) => {
    const from = Object.hasOwn(before, part) ? before[part] : null
    const to = Object.hasOwn(after, part) ? after[part] : null
    const isKept = Object.hasOwn(before, part) === Object.hasOwn(after, part) && same(from, to)
    return isKept ? [] : [{ part, from, to }]
  })
}
