import { changesAfter } from '../../../packages/tenant/src/services/events/changes.ts'
import { history } from '../../../packages/tenant/src/services/history.ts'
import { hooksOf } from '../../../packages/tenant/src/services/scripts/stored.ts'
import { readOperation } from '../../../packages/tenant/src/services/session.ts'
import { timersOf } from '../../../packages/tenant/src/services/timers/view.ts'
import { deliveriesOf } from '../../../packages/tenant/src/services/webhooks/records.ts'
import { asksOf } from '../../../packages/tenant/src/services/workflows/steps/ask.ts'
import { runsOf, runWithId } from '../../../packages/tenant/src/services/workflows/view.ts'
import { readLog } from '../../../packages/tenant/src/store/log/log.ts'
import type { Goal } from './authors.ts'
import { type Grant, LETTER, MARK, PROVED, SECRET, stateOf, stored, TAKEN, type World } from './world.ts'

/** A place where an attack can succeed: what an author finds there, as text. */
type Door = (world: World, author: Grant) => unknown

const PAGE = { state: null, status: null, cursor: null, limit: 100 }

/** Doors that reveal a value. Contacts themselves are not among them: the model is about all other ways to them. */
const REVEALING: { readonly [door: string]: Door } = {
  'what is stored': (world) => stored(world),
  'what the author was shown': ({ shown }) => shown,
  deliveries: ({ sent }) => sent,
  'e-mail': ({ mails }) => mails.filter(({ server, from }) => `${server} ${from}`.includes('evil')),
  asks: ({ tenant }, grant) => asksOf(tenant.engine, grant, { cursor: null, limit: 100 }),
  list: ({ tenant }, grant) => readOperation({ engine: tenant.engine, grant }, 'Deal', 'find', [{}]),
  get: ({ tenant, deal }, grant) => readOperation({ engine: tenant.engine, grant }, 'Deal', 'get', [deal]),
  groups: ({ tenant }, grant) =>
    readOperation({ engine: tenant.engine, grant }, 'Deal', 'aggregate', [{ group: ['description'] }]),
  'history of the entity': ({ tenant, deal }, grant) =>
    history(tenant.engine, grant, tenant.engine.noun('Deal'), deal, 100, null),
  'change stream': ({ tenant }, grant) =>
    changesAfter(tenant.engine, grant, ['Deal.*', 'Workflow.*', 'Webhook.*', 'TenantSecret.*'], 0, 1_000).rows,
  'runs of workflows': ({ tenant }, grant) =>
    idsOf(tenant, 'Workflow').map((id) => {
      const { results } = runsOf(tenant.engine, grant, id, PAGE) as { results: { id: string }[] }
      return results.map((run) => runWithId(tenant.engine, grant, id, run.id))
    }),
  'deliveries of webhooks': ({ tenant }, grant) =>
    idsOf(tenant, 'Webhook').map((id) => deliveriesOf(tenant.engine, grant, id, PAGE)),
  'failures of hooks': ({ tenant }, grant) => hooksOf(tenant.engine, grant, tenant.engine.noun('Deal')),
  'timers of the entity': ({ tenant, deal }, grant) => timersOf(tenant.engine, grant, tenant.engine.noun('Deal'), deal),
}

/** Doors that change something: the state, and what the log says. */
const CHANGING: { readonly [door: string]: Door } = {
  'the state': (world) => [
    stateOf(world, 'Contact', world.hidden).name === TAKEN && 'write Contact',
    stateOf(world, 'ApiKey', world.key).scopes === 'admin:all' && 'write ApiKey',
    stateOf(world, 'User', world.person).role === 'Admin' && 'write User',
  ],
  'the log': ({ tenant, hidden, key, person }) =>
    readLog(tenant.engine.sql, 0, 5_000).map(({ entity, data }) => [
      entity === hidden && data?.includes(TAKEN) && 'write Contact',
      entity === key && data?.includes('admin:all') && 'write ApiKey',
      entity === person && data?.includes('"role":"Admin"') && 'write User',
    ]),
}

/** What shows that a value was revealed. */
const SIGNS: { readonly [goal: string]: readonly string[] } = {
  'read Contact': [MARK, PROVED],
  'read Secret': [SECRET],
  'read Mail': [LETTER],
}

/** The doors through which an attack with this goal succeeded, and how many were looked at. */
export function openDoors(
  world: World,
  author: Grant,
  goal: Goal,
): { readonly found: string[]; readonly looked: number } {
  const signs = SIGNS[goal] ?? [`"${goal}"`]
  const doors = Object.entries(goal.startsWith('read') ? REVEALING : CHANGING)
  const found = doors.filter(([, door]) => {
    const text = textOf(() => door(world, author))
    return signs.some((sign) => text.includes(sign))
  })
  return { found: found.map(([name]) => name), looked: doors.length }
}

/** What a door says. A refusal is an answer too. */
function textOf(look: () => unknown): string {
  try {
    return JSON.stringify(look()) ?? ''
  } catch (reason) {
    return JSON.stringify([(reason as Error).message, (reason as { about?: unknown }).about])
  }
}

function idsOf({ sql }: World['tenant'], type: string): string[] {
  return sql.rows('SELECT id FROM states WHERE type = ? AND gone = 0', type).map(([id]) => id)
}
