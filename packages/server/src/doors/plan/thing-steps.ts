import { type Json, type JsonObject, lookOf, sameJson, VIEW_NOTATION } from '@tildebase/nouns'
import { type Current, isActive, WORKFLOW_FIELDS } from './current.ts'
import type { Given } from './given.ts'
import { changesBetween, type Other, type PartChange, type PlannedRequest, type Step } from './step.ts'

/** The steps of all that is not a type: roles, hooks, workflows, views, webhooks. */
export function thingSteps(now: Current, given: Given, hasViews: boolean): Step[] {
  return [
    ...roleSteps(now, given),
    ...hookSteps(now, given),
    ...workflowSteps(now, given),
    ...viewSteps(now, given, hasViews),
    ...webhookSteps(now, given),
  ]
}

/** What the tenant has and the declaration does not, for the kinds that the declaration has. */
export function othersIn(now: Current, given: Given): Other[] {
  const names = (kind: Other['kind'], have: Iterable<string>, wanted: object | undefined) =>
    wanted === undefined ? [] : [...have].filter((name) => !Object.hasOwn(wanted, name)).map((name) => ({ kind, name }))
  const steps = (hooks: Iterable<readonly [string, object]>) =>
    [...hooks].flatMap(([type, byStep]) => Object.keys(byStep).map((step) => `${type}.${step}`))
  const wanted = given.hooks && Object.fromEntries(steps(Object.entries(given.hooks)).map((name) => [name, true]))
  return [
    ...names('type', now.types.keys(), given.types),
    ...names('role', now.roles.keys(), given.roles),
    ...names('hook', steps(now.hooks), wanted),
    ...names('workflow', now.workflows.keys(), given.workflows),
    ...names('view', now.views.keys(), given.views),
    ...names('webhook', now.webhooks.keys(), given.webhooks),
  ]
}

/** The steps that delete such things. Types are last: nothing that rests on them is left then. */
export function deletions(now: Current, others: readonly Other[]): Step[] {
  const ordered = [...others.filter(({ kind }) => kind !== 'type'), ...others.filter(({ kind }) => kind === 'type')]
  return ordered.map(({ kind, name }) => ({
    ...about(kind, name),
    action: 'delete',
    changes: [],
    loses: 1,
    request: { method: 'DELETE', path: pathOf(now, kind, name) },
  }))
}

function pathOf(now: Current, kind: Other['kind'], name: string): string {
  const [type, step] = name.split('.')
  if (kind === 'type') return `/schema/${segment(name)}`
  if (kind === 'role') return `/schema/roles/${segment(name)}`
  if (kind === 'hook') return `/schema/${type}/hooks/${step}`
  if (kind === 'workflow') return `/Workflow/${now.workflows.get(name)!.id}`
  if (kind === 'view') return `/View/${now.views.get(name)!.id}`
  return `/Webhook/${now.webhooks.get(name)!.id}`
}

function roleSteps(now: Current, { roles = {} }: Given): Step[] {
  return Object.entries(roles).flatMap(([name, wanted]) => {
    const before = now.roles.get(name)
    const request = {
      method: 'PUT',
      path: `/schema/roles/${segment(name)}`,
      body: { ...wanted } as JsonObject,
    } as const
    return stepFor('role', name, before, wanted as object, request)
  })
}

function hookSteps(now: Current, { hooks = {} }: Given): Step[] {
  return Object.entries(hooks).flatMap(([type, steps]) =>
    Object.entries(steps).flatMap(([step, code]) => {
      const before = now.hooks.get(type)?.[step]
      const request = {
        method: 'PUT',
        path: `/schema/${segment(type)}/hooks/${segment(step)}`,
        body: { code },
      } as const
      return stepFor('hook', `${type}.${step}`, before === undefined ? undefined : { code: before }, { code }, request)
    }),
  )
}

function workflowSteps(now: Current, { workflows = {} }: Given): Step[] {
  return Object.entries(workflows).flatMap(([name, { active, ...wanted }]) => {
    const stored = now.workflows.get(name)
    if (stored === undefined) {
      const body = { name, ...wanted, status: active === false ? 'Draft' : 'Activated' }
      return stepFor('workflow', name, undefined, wanted, { method: 'POST', path: '/Workflow', body })
    }
    const status =
      active === undefined || active === isActive(stored.status) ? {} : { status: active ? 'Activated' : 'Paused' }
    const cleared = Object.fromEntries(
      WORKFLOW_FIELDS.filter((field) => !(field in wanted)).map((field) => [field, null]),
    )
    const body = { ...changedIn(stored.declaration, { ...cleared, ...wanted }), ...status }
    const before = { ...stored.declaration, ...('status' in status && { status: stored.status! }) }
    const request = { method: 'PUT', path: `/Workflow/${stored.id}`, body } as const
    return stepFor('workflow', name, before, { ...wanted, ...status }, request)
  })
}

function viewSteps(now: Current, { views }: Given, hasViews: boolean): Step[] {
  if (views === undefined || Object.keys(views).length === 0) return []
  const type: Step[] = hasViews
    ? []
    : stepFor('type', 'View', undefined, VIEW_NOTATION, {
        method: 'PUT',
        path: '/schema/View',
        body: { ...VIEW_NOTATION },
      })
  const steps = Object.entries(views).flatMap(([name, wanted]) => {
    const stored = now.views.get(name)
    const body = { name, type: wanted.type, look: lookOf(wanted), shared: true }
    const request = stored
      ? ({ method: 'PUT', path: `/View/${stored.id}`, body } as const)
      : ({ method: 'POST', path: '/View', body } as const)
    return stepFor('view', name, stored?.declaration, wanted, request)
  })
  return [...type, ...steps]
}

function webhookSteps(now: Current, { webhooks = {} }: Given): Step[] {
  return Object.entries(webhooks).flatMap(([name, { secret: _, ...wanted }]) => {
    const stored = now.webhooks.get(name)
    const url = URL.canParse(wanted.url) ? new URL(wanted.url).href : wanted.url
    const after = { ...wanted, url } as unknown as JsonObject
    if (stored === undefined)
      return stepFor('webhook', name, undefined, after, {
        method: 'POST',
        path: '/Webhook',
        body: { description: name, ...after },
      })
    const before = stored.declaration as unknown as JsonObject
    const body = changedIn(before, { ...('filter' in after ? {} : { filter: null }), ...after })
    return stepFor('webhook', name, before, after, { method: 'PUT', path: `/Webhook/${stored.id}`, body })
  })
}

/** The step that changes a thing, if there is anything to change. */
function stepFor(
  kind: Step['kind'],
  name: string,
  before: object | undefined,
  after: object,
  request: PlannedRequest,
): Step[] {
  const changes: PartChange[] = changesBetween((before ?? {}) as JsonObject, after as JsonObject, same)
  if (before !== undefined && changes.length === 0) return []
  return [{ ...about(kind, name), action: before === undefined ? 'create' : 'change', changes, request }]
}

/** The fields of a declaration that differ from what is stored. */
function changedIn(before: JsonObject, after: JsonObject): JsonObject {
  const changed = Object.entries(after).filter(([field, value]) => !same(before[field], value))
  return Object.fromEntries(changed)
}

function about(kind: Step['kind'], name: string): Pick<Step, 'kind' | 'name' | 'loses' | 'migrates'> {
  return { kind, name, loses: 0, migrates: 0 }
}

function segment(text: string): string {
  return encodeURIComponent(text)
}

function same(a: unknown, b: unknown): boolean {
  return sameJson((a ?? null) as Json, (b ?? null) as Json)
}
