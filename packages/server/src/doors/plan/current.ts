import {
  type Declaration,
  type JsonObject,
  type Noun,
  type ViewDeclaration,
  viewOf,
  type WebhookDeclaration,
} from '@tildebase/nouns'
import type { TenantReader } from '@tildebase/tenant'
import type { Ask } from './step.ts'

/** The entity of a declared thing. */
interface StoredThing<D> {
  readonly id: string
  readonly status?: string
  readonly declaration: D
}

/** What a tenant has of all that can be declared, with the ids of what is an entity. */
export interface Current {
  /** What the tenant itself declared of its types. */
  readonly types: ReadonlyMap<string, JsonObject>
  readonly roles: ReadonlyMap<string, { readonly scopes: string; readonly filter?: JsonObject }>
  readonly hooks: ReadonlyMap<string, { readonly [step: string]: string }>
  readonly workflows: ReadonlyMap<string, StoredThing<JsonObject>>
  readonly views: ReadonlyMap<string, StoredThing<ViewDeclaration>>
  readonly webhooks: ReadonlyMap<string, StoredThing<WebhookDeclaration>>
}

/** The fields of a workflow that a declaration has. */
export const WORKFLOW_FIELDS = [
  'description',
  'triggerEvent',
  'filter',
  'schedule',
  'steps',
  'retryPolicy',
  'errorHandling',
  'timeout',
] as const

/** Reads all of it with the rights of the caller. */
export async function currentOf(ask: Ask, read: TenantReader): Promise<Current> {
  const nouns = read.nouns.all
  const own = (noun: Noun) => read.ownNotation(noun)
  const declared = nouns.filter((noun) => Object.keys(own(noun)).length > 0 && noun.name !== 'View')
  const workflows = await all(ask, 'Workflow')
  const views = read.nouns.get('View') ? await all(ask, 'View') : []
  const webhooks = await all(ask, 'Webhook')
  const hooks = nouns.map((noun) => [noun.name, read.reactions.hooks(noun)] as const)
  return {
    types: new Map(declared.map((noun) => [noun.name, own(noun)])),
    roles: new Map(
      read
        .roles()
        .filter(({ builtIn }) => !builtIn)
        .map(({ name, scopes, filter }) => [name, { scopes, ...(filter && { filter }) }]),
    ),
    hooks: new Map(
      hooks
        .filter(([, list]) => list.length > 0)
        .map(([type, list]) => [type, Object.fromEntries(list.map(({ name, code }) => [name, code]))]),
    ),
    workflows: new Map(
      workflows
        .filter(({ status }) => status !== 'Archived')
        .map((entity) => [
          String(entity.name),
          { id: String(entity.$id), status: String(entity.status), declaration: present(entity, WORKFLOW_FIELDS) },
        ]),
    ),
    views: new Map(
      views
        .filter(({ shared }) => shared === true)
        .map(({ $id, name, type, look }) => [
          String(name),
          { id: String($id), declaration: viewOf(String(type), (look ?? {}) as { readonly [part: string]: string }) },
        ]),
    ),
    webhooks: new Map(
      webhooks.map((entity) => [
        // One without a name is known by its address.
        typeof entity.description === 'string' ? entity.description : String(entity.url),
        {
          id: String(entity.$id),
          declaration: present(entity, ['url', 'events', 'filter']) as unknown as WebhookDeclaration,
        },
      ]),
    ),
  }
}

/** The declaration that makes a tenant as it is now. */
export function declarationIn({ types, roles, hooks, workflows, views, webhooks }: Current): Declaration {
  const declared = <D>(things: ReadonlyMap<string, StoredThing<D>>) =>
    Object.fromEntries([...things].map(([name, { declaration }]) => [name, declaration]))
  return {
    types: Object.fromEntries(types),
    roles: Object.fromEntries(roles),
    hooks: Object.fromEntries(hooks),
    workflows: Object.fromEntries(
      [...workflows].map(([name, { status, declaration }]) => [
        name,
        isActive(status) ? declaration : { ...declaration, active: false },
      ]),
    ),
    views: declared(views),
    webhooks: declared(webhooks),
  }
}

/** Whether the events of its trigger start a workflow with this status. */
export function isActive(status: string | undefined): boolean {
  return status === 'Activated' || status === 'Active'
}

/** All entities of a type, oldest first. */
async function all(ask: Ask, type: string): Promise<JsonObject[]> {
  const found: JsonObject[] = []
  for (let cursor: unknown; cursor !== null; ) {
    const query = { limit: 100, sort: 'createdAt', ...(cursor !== undefined && { cursor }) }
    const page = (await ask(`/${type}`, query)) as { results: JsonObject[]; cursor: string | null }
    found.push(...page.results)
    cursor = page.cursor
  }
  return found
}

function present(entity: JsonObject, fields: readonly string[]): JsonObject {
  const given = fields.filter((field) => entity[field] !== undefined && entity[field] !== null)
  return Object.fromEntries(given.map((field) => [field, entity[field]!]))
}
