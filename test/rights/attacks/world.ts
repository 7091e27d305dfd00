import type { Json, JsonObject } from '@tildebase/nouns'
import { type Grant, OPERATOR, type Ports } from '@tildebase/tenant'
import { Budget } from '../../../packages/tenant/src/budget.ts'
import { type Automation, openAutomation } from '../../automation/bench.ts'
import { pseudo } from '../../tenant/fixture.ts'
import { IN_THE_LOG, TABLES } from './kinds.ts'

/** A value that only the hidden contact holds. */
export const MARK = 'MARK-7f3a'
/** A filter that asks for the beginning of the value. */
export const STARTS = { $regex: `^${MARK.slice(0, 6)}` }
/** What an attack writes where it has proved something about the value. */
export const PROVED = 'PROVED-7f3a'
/** What an attack writes into what it may not change. */
export const TAKEN = 'TAKEN-7f3a'

/** A secret of the tenant. */
export const SECRET = 'SECRET-7f3a'
/** What the service writes to a person. */
export const LETTER = 'LETTER-7f3a'
/** A receiver that belongs to the tenant: what it gets is not a finding. */
export const GOOD = 'https://good.example/'

/** A tenant with something to read and something to change, and all that left it. */
export interface World extends Automation {
  readonly hidden: string
  readonly deal: string
  readonly person: string
  readonly key: string
  /** What was sent, with its headers. */
  readonly sent: string[]
  /** E-mails with the servers that got them. */
  readonly mails: { readonly server: string; readonly from: string; readonly text: string }[]
  /** What GET requests are answered with. */
  readonly answers: { text?: string }
  /** What the author was shown: problems and answers. */
  readonly shown: string[]
  /** Runs something as the author, and keeps the answer. */
  attempt<T>(work: () => T): T | null
}

/** What every tenant but the first begins with, and the ids in it. */
let planted: { readonly content: Uint8Array; readonly ids: Ids } | undefined
type Ids = Pick<World, 'hidden' | 'deal' | 'person' | 'key'>

export function openWorld(): World {
  const automation = openAutomation({}, ':memory:', planted?.content)
  const ids = planted?.ids ?? plant(automation)
  const sent: string[] = []
  const answers: { text?: string } = {}
  const shown: string[] = []
  const outbound: Ports['outbound'] = {
    send: async ({ url, headers, body, method }) => {
      if (method === 'GET') return { status: 200, headers: {}, ...answers }
      if (url !== GOOD) sent.push(`${body} ${JSON.stringify(headers)}`)
      // Receivers repeat what they get.
      return { status: 200, headers: {}, text: body }
    },
  }
  const mails: World['mails'] = []
  const mail: Ports['mail'] = {
    from: 'desk@service.example',
    own: ['desk@service.example'],
    send: async ({ from, text }, server) => {
      mails.push({ server: server?.url ?? 'service', from, text })
      return { isSent: true }
    },
    check: async () => null,
    fetch: async function* () {},
  }
  // Other numbers than those that are in the ids of what is there.
  const random = { bytes: pseudo(11) }
  automation.tenant.equip({ random, outbound, mail, blobs: memoryBlobs(), script: { run: runScript } })
  const attempt = <T>(work: () => T): T | null => {
    try {
      const result = work()
      // What the author wrote itself may come back.
      shown.push((JSON.stringify(result) ?? '').replaceAll(PROVED, ''))
      return result
    } catch (reason) {
      const { message, about } = reason as { message: string; about?: unknown }
      shown.push(JSON.stringify([message, about]))
      return null
    }
  }
  return { ...automation, ...ids, sent, mails, answers, shown, attempt }
}

function plant({ run, tenant }: Automation): Ids {
  const hidden = run('Contact', 'create', undefined, { name: 'Hugo', title: 'theirs', phone: MARK }).$id
  const deal = run('Deal', 'create', undefined, { name: 'Roof', contact: hidden }).$id
  const person = run('User', 'create', undefined, { name: 'Eve', email: 'eve@example.org', role: 'Viewer' }).$id
  const key = run('ApiKey', 'create', undefined, { name: 'k', scopes: 'read:Deal' }).$id
  const ids = { hidden, deal, person, key }
  const content = tenant.sql.content()
  if (content) planted = { content, ids }
  return ids
}

export const unlimited = () => new Budget({ ms: 60_000, rows: 1e9, bytes: 1e9 }, () => performance.now())

/** Files in memory. */
function memoryBlobs(): NonNullable<Ports['blobs']> {
  const blobs = new Map<string, Buffer>()
  return {
    put: async (key, source) => {
      const chunks: Uint8Array[] = []
      for await (const chunk of source) chunks.push(chunk)
      blobs.set(key, Buffer.concat(chunks))
    },
    read: async function* (key, from, to) {
      yield blobs.get(key)!.subarray(from, to)
    },
    has: async (key) => blobs.has(key),
    remove: async (key) => void blobs.delete(key),
    list: async function* () {},
  }
}

/** Does what a privileged caller does every day, and lets everything that is stored react to it. */
export async function provoke(world: World): Promise<void> {
  const { deal, hidden, tenant } = world
  // A stored hook may refuse: that is not what is tested here.
  const run = (type: string, verb: string, id: string | undefined, data: JsonObject) =>
    tenant.facade.write(OPERATOR, {}, unlimited(), (write) => write.run({ type, verb, id, data })).catch(() => null)
  for (let round = 0; round < 2; round++) {
    await run('Deal', 'update', deal, { name: `Roof ${round}`, due: world.iso(0) })
    await run('Deal', 'create', undefined, { name: `Door ${round}`, contact: hidden, due: world.iso(0) })
    await run('Contact', 'update', hidden, { company: `c${round}`, due: world.iso(0) })
    await world.advance(60_000)
  }
}

/** The interpreter of the host, without its walls: the code is ours, and the rights are what is tested. */
async function runScript({ code, values = {}, call }: Parameters<NonNullable<Ports['script']>['run']>[0]) {
  const type = (name: string) =>
    new Proxy(
      {},
      {
        get:
          (_, operation) =>
          (...args: Json[]) =>
            call(`${name}.${String(operation)}`, args),
      },
    )
  const $ = new Proxy({}, { get: (_, name) => type(String(name)) })
  try {
    const names = Object.keys(values)
    const result = await new Function('$', ...names, `return ${code}`)($, ...names.map((name) => values[name]))
    return { result: (result ?? null) as Json, logs: [] }
  } catch (reason) {
    const message = (reason as Error).message
    return { error: { code: 'script_error', message, said: message }, logs: [] }
  }
}

/** What tables hold that can change without an event. */
const TABLES_WITHOUT_EVENTS = Object.keys(TABLES).filter((table) => !IN_THE_LOG.includes(table))

/** A text that is another one as soon as anything is stored. */
export function contentOf({ tenant: { head, sql } }: World): string {
  return JSON.stringify([head.seq, TABLES_WITHOUT_EVENTS.map((table) => sql.rows(`SELECT * FROM ${table}`))])
}

/** Everything that is stored, except where the secret belongs. */
export function stored({ tenant }: World): string {
  return JSON.stringify(
    tenant.sql.rows(
      `SELECT data FROM states WHERE type NOT IN ('Contact', 'Hook', 'Schema', 'Changeset', 'ChangesetPart')`,
    ),
  )
}

export function stateOf(world: World, type: string, id: string): JsonObject {
  return world.entity(type, id) as JsonObject
}

export { type Grant, OPERATOR }
