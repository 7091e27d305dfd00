import { Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { covers, type Grant } from '../../grant/grant.ts'
import type { Scope } from '../../grant/scopes.ts'
import { workflowRow } from '../../store/workflows.ts'

/** Rights as they are kept: what a grant may do, without whose it is. */
interface Rights {
  readonly scopes: readonly Scope[]
  readonly rows: { readonly [type: string]: unknown }
}

/** The rights of a grant, to keep next to a workflow. */
export function rightsText({ scopes, rows }: Grant): string {
  return JSON.stringify({ scopes, rows })
}

/** The grant that a workflow runs with: that of the key which stored it, as it was at that time. */
export function grantOfWorkflow(id: string, rights: string): Grant {
  const { scopes, rows } = JSON.parse(rights) as Rights
  return { actor: `workflow:${id}`, scopes, rows, isCode: true }
}

/** Refuses to change or to start a workflow that can do more than the one that asks. */
export function demandCovers(engine: Engine, grant: Grant, id: string): void {
  // A workflow runs without the limits of an agent.
  if (grant.limits === undefined && mayDoAll(engine, grant, id)) return
  throw new Problem('forbidden', 'This key cannot change or run a workflow with more rights than its own.', {
    type: 'Workflow',
    id,
  })
}

/** Whether a grant may see what the runs of a workflow read and wrote. */
export function maySeeValues(engine: Engine, grant: Grant, id: string): boolean {
  const rights = workflowRow(engine.sql, id)?.rights
  if (rights === undefined) return true
  const { scopes, ...rest } = grantOfWorkflow(id, rights)
  // Reading suffices, but for the types whose reading is an administrator's matter.
  const needed = scopes.map((scope) => (scope.action === 'admin' ? scope : { ...scope, action: 'read' as const }))
  return covers(grant, { ...rest, scopes: needed }, (area) => engine.nouns.get(area)?.domain ?? null)
}

function mayDoAll(engine: Engine, grant: Grant, id: string): boolean {
  const rights = workflowRow(engine.sql, id)?.rights
  const domainOf = (area: string) => engine.nouns.get(area)?.domain ?? null
  return rights === undefined || covers(grant, grantOfWorkflow(id, rights), domainOf)
}
