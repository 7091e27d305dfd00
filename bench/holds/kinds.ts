/** A tenant to which the kinds of writes are sent. */
export interface Stage {
  readonly entities: number
  /** Sends a request and waits for its end; if it becomes a task, for that of the task. Returns the body. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<any>
  /** The same as another key, for approvals. */
  sendAsOther(method: string, path: string, body?: unknown): Promise<any>
  /** Imports so many rows. */
  load(type: string, count: number, row: (i: number) => object): Promise<void>
  /** Waits until the answer to a GET satisfies a test. */
  until(path: string, test: (body: any) => boolean): Promise<void>
}

/** A kind of write. They run one after the other, on the same tenant. */
interface Kind {
  readonly name: string
  prepare?(stage: Stage): Promise<void>
  run(stage: Stage): Promise<void>
}

const CAR = { name: 'string!', size: 'string', plate: 'string' }
const OPERATIONS = 2_000
const DEPENDANTS = 9_000
const SYNCED = 10_000

const operations = (count: number, name: string) =>
  Array.from({ length: count }, (_, i) => ({ type: 'Contact', verb: 'create', data: { name: `${name} ${i}` } }))

const changes = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    type: 'Contact',
    id: `contact_${`${i}`.padStart(22, '0')}`,
    operation: 'create',
    timestamp: '2026-01-01T00:00:00Z',
    data: { name: `synced ${i}` },
  }))

/** A hub with many parts, whose computed field follows a field of the hub. */
async function hub(stage: Stage, name: string, more: object = {}): Promise<string> {
  await stage.send('PUT', `/schema/${name}Hub`, { label: 'string', due: 'datetime', ...more })
  await stage.send('PUT', `/schema/${name}Part`, { hub: `-> ${name}Hub`, copy: '= hub.label' })
  const { $id } = await stage.send('POST', `/${name}Hub`, { label: 'a' })
  await stage.load(`${name}Part`, DEPENDANTS, () => ({ hub: $id }))
  return $id
}

/** Waits until the last part has the value of the hub. */
function followed(stage: Stage, name: string, label: string): Promise<void> {
  return stage.until(`/${name}Part?limit=1&copy=${label}`, ({ total }) => total === DEPENDANTS)
}

const hubs = new Map<string, string>()

export const KINDS: readonly Kind[] = [
  {
    name: 'nothing',
    run: () => new Promise((done) => setTimeout(done, 3_000)),
  },
  {
    name: 'import',
    prepare: (stage) => stage.send('PUT', '/schema/Car', CAR),
    run: (stage) =>
      stage.load('Car', stage.entities, (i) => ({ name: `car ${i}`, size: `${i}`, plate: `p${i * 7919}` })),
  },
  {
    name: 'declaration of an indexed field',
    run: (stage) => stage.send('PUT', '/schema/Car', { ...CAR, plate: 'string#' }),
  },
  {
    name: 'declaration of a unique field',
    run: (stage) => stage.send('PUT', '/schema/Car', { ...CAR, plate: 'string##' }),
  },
  {
    name: 'declaration of a computed field',
    run: (stage) => stage.send('PUT', '/schema/Car', { ...CAR, copy: '= name' }),
  },
  { name: 'rename', run: (stage) => stage.send('POST', '/schema/Car/rename', { from: 'plate', to: 'sign' }) },
  { name: 'retype', run: (stage) => stage.send('POST', '/schema/Car/retype', { field: 'size', to: 'number' }) },
  {
    name: 'dry run of a retype',
    run: (stage) => stage.send('POST', '/schema/Car/retype?dryRun=true', { field: 'size', to: 'string' }),
  },
  {
    name: 'sync batch',
    run: (stage) => stage.send('POST', '/sync', { changes: changes(SYNCED) }, { 'x-correlation-id': 'synced' }),
  },
  {
    name: 'undo of the sync batch',
    run: (stage) => stage.send('POST', '/undo/synced'),
  },
  {
    name: 'trial of a changeset (create from operations)',
    run: (stage) => stage.send('POST', '/changesets', { title: 'b', operations: operations(OPERATIONS, 'c') }),
  },
  {
    name: 'trial of a changeset (review)',
    run: async (stage) => {
      const { results } = await stage.send('GET', '/Changeset?limit=1')
      hubs.set('changeset', results[0].$id)
      await stage.send('GET', `/Changeset/${results[0].$id}`)
    },
  },
  {
    name: 'trial of a changeset (effect)',
    run: (stage) => stage.send('GET', `/Changeset/${hubs.get('changeset')}/effect`),
  },
  {
    name: 'approval of a changeset',
    run: (stage) => stage.sendAsOther('POST', `/Changeset/${hubs.get('changeset')}/approve`),
  },
  {
    name: 'proposal of a batch',
    run: async (stage) => {
      const parts = Array.from({ length: 100 }, (_, i) => ({
        method: 'POST',
        path: '/Contact',
        body: { name: `p${i}` },
      }))
      await stage.send('POST', '/batch?propose=bench', { operations: parts })
    },
  },
  {
    name: 'dependants of a computed field',
    prepare: async (stage) => void hubs.set('A', await hub(stage, 'A')),
    run: async (stage) => {
      await stage.send('PATCH', `/AHub/${hubs.get('A')}`, { label: 'b' })
      await followed(stage, 'A', 'b')
    },
  },
  {
    name: 'dependants after a timer',
    prepare: async (stage) => {
      const turn = { event: 'turned', set: { label: 'b' } }
      hubs.set('B', await hub(stage, 'B', { turn, $timers: { t: { at: 'due', run: 'turn' } } }))
    },
    run: async (stage) => {
      await stage.send('PATCH', `/BHub/${hubs.get('B')}`, { due: new Date().toISOString() })
      await followed(stage, 'B', 'b')
    },
  },
  {
    name: 'dependants after a workflow step',
    prepare: async (stage) => {
      hubs.set('C', await hub(stage, 'C'))
      const steps = [{ verb: 'update', type: 'CHub', id: hubs.get('C'), args: { label: 'b' } }]
      const { $id } = await stage.send('POST', '/Workflow', { name: 'w', triggerEvent: 'Lead.created', steps })
      await stage.send('POST', `/Workflow/${$id}/activate`)
    },
    run: async (stage) => {
      await stage.send('POST', '/Lead', { name: 'l' })
      await followed(stage, 'C', 'b')
    },
  },
  {
    name: 'dependants after a hook',
    prepare: async (stage) => {
      hubs.set('D', await hub(stage, 'D'))
      const code = `(async (entity, $) => { await $.DHub.update('${hubs.get('D')}', { label: 'b' }) })`
      await stage.send('PUT', '/schema/Product/hooks/created', { code })
    },
    run: async (stage) => {
      await stage.send('POST', '/Product', { name: 'p' })
      await followed(stage, 'D', 'b')
    },
  },
  {
    name: 'dependants after code of do',
    prepare: async (stage) => void hubs.set('E', await hub(stage, 'E')),
    run: async (stage) => {
      await stage.send('POST', '/do', { code: `await $.EHub.update('${hubs.get('E')}', { label: 'b' })` })
      await followed(stage, 'E', 'b')
    },
  },
]
