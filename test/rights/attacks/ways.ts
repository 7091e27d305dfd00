import type { JsonObject } from '@tildebase/nouns'
import { Importer } from '../../../packages/tenant/src/services/bulk/import.ts'
import { propose } from '../../../packages/tenant/src/services/changesets/propose.ts'
import { sync } from '../../../packages/tenant/src/services/sync/sync.ts'
import { putType } from '../../../packages/tenant/src/services/types/schema.ts'
import { undo } from '../../../packages/tenant/src/services/undo.ts'
import { runVerb } from '../../../packages/tenant/src/write/run-verb.ts'
import { type Grant, OPERATOR, type World } from './world.ts'

/** The way in which the author of what is stored is the one who approved it. */
export const APPROVAL = 'approval of a changeset'

/** Every way to store an entity that acts, or to touch one that is stored. */
export const ENTITY_WAYS: readonly string[] = [
  'create',
  'update',
  'batch',
  'import',
  'sync',
  APPROVAL,
  'update by an administrator',
  'rollback by an administrator',
  'undo by an administrator',
  'restore by an administrator',
  'timer of an administrator',
  'computed field of an administrator',
  'workflow of an administrator',
  'run by hand',
]

/** Stores an entity in one of the ways, and makes it active where it can be. */
export async function storeEntity(
  world: World,
  author: Grant,
  way: string,
  type: string,
  evil: JsonObject,
  harmless: JsonObject,
): Promise<void> {
  const { tenant, attempt } = world
  const run = (grant: Grant, verb: string, id?: string, data: JsonObject = {}, correlation?: string) =>
    tenant.run(grant, { type, verb, ...(id !== undefined && { id }), data }, correlation ? { correlation } : {}).entity
      .id
  const create = (data: JsonObject) => attempt(() => run(author, 'create', undefined, data))
  const id = await store()
  if (id === null) return
  const activate = (grant: Grant) => attempt(() => run(grant, 'activate', id))
  if (type === 'Workflow') {
    activate(author)
    // An administrator who makes it active leaves no rights in it.
    attempt(() => world.entity(type, id).status !== 'Activated' && run(OPERATOR, 'activate', id))
  }
  await touch(id)

  async function store(): Promise<string | null> {
    const known = `${type.toLowerCase()}_0V70MWDg2nQ2inj0r8bF3e`
    switch (way) {
      case 'update': {
        const made = create(harmless)
        if (made) attempt(() => run(author, 'update', made, evil))
        return made
      }
      case 'batch':
        return attempt(() =>
          tenant.write(author, (write) => {
            const made = runVerb(write, { type, verb: 'create', data: harmless }).entity.id
            return runVerb(write, { type, verb: 'update', id: made, data: evil }).entity.id
          }),
        )
      case 'import': {
        const importer = new Importer(tenant.engine.noun(type), { upsert: null, dryRun: false })
        const row = { row: 0, size: 1, value: { ...evil, $id: known, status: 'Activated' } }
        attempt(() => tenant.write(author, (write) => importer.take(write, [row])))
        return isThere(known) ? known : null
      }
      case 'sync': {
        const change = { type, id: known, operation: 'create', data: evil, timestamp: world.iso(0) }
        attempt(() => tenant.write(author, (write) => sync(write, { changes: [change] })))
        return isThere(known) ? known : null
      }
      case 'approval of a changeset': {
        const proposal = attempt(() =>
          tenant.write(author, (write) =>
            propose(write, { into: 'evil' }, (trial) => runVerb(trial, { type, verb: 'create', data: evil }).entity.id),
          ),
        )
        if (!proposal) return null
        attempt(() => tenant.run(OPERATOR, { type: 'Changeset', verb: 'approve', id: proposal.changeset, data: {} }))
        return isThere(proposal.preview) ? proposal.preview : null
      }
      default:
        return create(evil)
    }
  }

  async function touch(id: string): Promise<void> {
    if (way === 'update by an administrator') run(OPERATOR, 'update', id, { description: 'seen' })
    if (way === 'rollback by an administrator') {
      const version = tenant.sql.rows('SELECT version FROM states WHERE id = ?', id)[0]![0]
      run(OPERATOR, 'update', id, harmless)
      attempt(() => run(OPERATOR, 'rollback', id, { version }))
    }
    if (way === 'undo by an administrator') {
      run(OPERATOR, 'update', id, harmless, 'mine')
      attempt(() => tenant.write(OPERATOR, (write) => undo(write, 'mine')))
    }
    if (way === 'restore by an administrator') {
      run(OPERATOR, 'delete', id)
      attempt(() => run(OPERATOR, 'restore', id))
    }
    if (way === 'timer of an administrator' && type === 'Workflow') {
      const notation = { due: 'datetime', seen: 'string', look: { event: 'looked', set: { seen: 'yes' } } }
      const $timers = { look: { at: 'due', run: 'look' } }
      tenant.write(OPERATOR, (write) => putType(write, type, { ...notation, $timers }))
      run(OPERATOR, 'update', id, { due: world.iso(0) })
      await world.advance(1_000)
    }
    if (way === 'computed field of an administrator' && type === 'Workflow') {
      tenant.write(OPERATOR, (write) => putType(write, type, { deal: '-> Deal', copy: '= deal.name' }))
      run(OPERATOR, 'update', id, { deal: world.deal })
      world.run('Deal', 'update', world.deal, { name: 'followed' })
    }
    if (way === 'workflow of an administrator') {
      const steps = [{ verb: 'update', type, id, args: { description: 'seen' } }]
      const other = world.run('Workflow', 'create', undefined, { name: 'o', triggerEvent: 'Lead.created', steps }).$id
      world.run('Workflow', 'activate', other)
      world.run('Lead', 'create', undefined, { name: 'x' })
      await world.advance(1_000)
    }
    if (way === 'run by hand') attempt(() => run(OPERATOR, 'trigger', id))
  }

  function isThere(one: string): boolean {
    return tenant.sql.rows('SELECT 1 FROM states WHERE id = ? AND gone = 0', one).length > 0
  }
}
