import type { JsonObject, Noun } from '../noun.ts'
import { Problem } from '../problem.ts'
import { isPlainObject } from '../value/json.ts'

/** The kinds of what a project declares for a tenant, in the order in which they are stored. */
export const DECLARED = ['types', 'roles', 'hooks', 'workflows', 'views', 'webhooks'] as const

/** All that a project declares for a tenant, as plain data. A kind that is absent is left alone. */
export interface Declaration {
  /** Notations by type. For a built-in type: what is added to it. */
  readonly types?: { readonly [type: string]: JsonObject }
  /** The earlier names of renamed fields: type, new name, old name. */
  readonly renamed?: { readonly [type: string]: { readonly [field: string]: string } }
  readonly roles?: { readonly [name: string]: RoleDeclaration }
  /** Code by type and step. */
  readonly hooks?: { readonly [type: string]: { readonly [step: string]: string } }
  readonly workflows?: { readonly [name: string]: JsonObject }
  readonly views?: { readonly [name: string]: ViewDeclaration }
  readonly webhooks?: { readonly [name: string]: WebhookDeclaration }
}

export interface RoleDeclaration {
  readonly scopes: string
  /** Row filters by type; `$user.$id` and `$user.email` are the person. */
  readonly filter?: JsonObject
}

/** How a list of the console looks, for all people of the tenant. */
export interface ViewDeclaration {
  readonly type: string
  readonly layout?: string
  readonly filter?: JsonObject
  readonly text?: string
  readonly sort?: string
  readonly group?: string
  readonly columns?: readonly string[]
}

export interface WebhookDeclaration {
  readonly url: string
  readonly events: readonly string[]
  readonly filter?: JsonObject
  /** Used when the webhook is created; one is generated if it is absent. */
  readonly secret?: string
}

/** A part of a declaration that is not a type: what `role`, `hooks`, `workflow`, `view` and `webhook` return. */
export interface Declared<Kind extends Exclude<(typeof DECLARED)[number], 'types'> = 'roles'> {
  readonly declares: Kind
  readonly name: string
  readonly body: NonNullable<Declaration[Kind]>[string]
}

type Part = Noun | Declared<'roles' | 'hooks' | 'workflows' | 'views' | 'webhooks'>

/** Whether a value is a type, or was made by `role`, `hooks`, `workflow`, `view` or `webhook`. */
export function isDeclared(value: unknown): value is Part {
  if (typeof value !== 'object' || value === null || !('name' in value)) return false
  if ('declares' in value) return (DECLARED as readonly unknown[]).includes(value.declares)
  return 'notation' in value && 'verbs' in value
}

/** The declaration that these parts make. A name that is declared twice is refused. */
export function declarationOf(parts: readonly Part[]): Declaration {
  const found: { [kind: string]: { [name: string]: unknown } } = {}
  const put = (kind: string, name: string, body: unknown) => {
    found[kind] ??= {}
    const before = found[kind]![name]
    if (before !== undefined && kind !== 'hooks') throw new Problem('invalid_schema', `${name} is declared twice.`)
    found[kind]![name] = isPlainObject(before) && isPlainObject(body) ? { ...before, ...body } : body
  }
  for (const part of parts) {
    if ('declares' in part) put(part.declares, part.name, part.body)
    else {
      put('types', part.name, part.notation)
      if (part.renamed) put('renamed', part.name, part.renamed)
    }
  }
  return found as Declaration
}

/** The parts of an address of the console that make a view, as the entity of a view stores them. */
export function lookOf({ type: _, filter, columns, ...rest }: ViewDeclaration): { readonly [part: string]: string } {
  return {
    ...(rest as { readonly [part: string]: string }),
    ...(filter && { filter: JSON.stringify(filter) }),
    ...(columns && { columns: columns.join(',') }),
  }
}

/** A view from the entity that stores it. */
export function viewOf(type: string, look: { readonly [part: string]: string }): ViewDeclaration {
  const { filter, columns, ...rest } = look
  return {
    type,
    ...rest,
    ...(filter !== undefined && { filter: JSON.parse(filter) as JsonObject }),
    ...(columns !== undefined && { columns: columns.split(',') }),
  }
}

/** The type of which views are entities. */
export const VIEW_NOTATION = {
  name: 'string!',
  type: 'string!#',
  look: 'json',
  shared: 'boolean = false',
  owner: 'string#',
} as const
