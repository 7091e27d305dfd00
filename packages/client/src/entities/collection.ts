import { type JsonObject, Problem } from '@tildebase/nouns'
import { filesOf } from '../files/files.ts'
import type { AnyJson } from '../transport/any-json.ts'
import { type Page, pageOf } from '../transport/page.ts'
import { problemIn, type Wire } from '../transport/wire.ts'
import { liveList } from './live.ts'
import { createMany } from './many.ts'
import { type Asking, type AsOf, asOfText, getQuery, listQuery, type Time, timeText } from './query.ts'
import { upsert } from './upsert.ts'
import { type WriteOptions, written } from './written.ts'

const LARGEST_PAGE = 100
/** A longer list question travels in a body: not every proxy takes long addresses. */
const LONGEST_FILTER = 4_000

interface Options extends Asking {
  readonly signal?: AbortSignal | undefined
}

/** The methods of one type, as `Collection` describes them. Any other name is a verb. */
export function collectionOf(wire: Wire, root: string, type: string): object {
  const path = `${root}/${encodeURIComponent(type)}`
  const at = (id: string) => `${path}/${encodeURIComponent(id)}`

  const list = async (filter: object | undefined, options: Options = {}, more: object = {}) => {
    const query = { ...listQuery(filter, options), ...more }
    return pageOf<JsonObject>(await ask(wire, root, encodeURIComponent(type), query, options.signal))
  }
  const run = (verb: string) => (id: string, args?: object, options?: WriteOptions) =>
    wire.json(`${at(id)}/${encodeURIComponent(verb)}`, { method: 'POST', body: args ?? {}, ...written(options) })

  const methods = {
    find: list,
    async findOne(filter?: object, options?: Options) {
      const [first = null] = await list(filter, { ...options, limit: 1 }, { total: false })
      return first
    },
    async *all(filter?: object, options?: Options) {
      let page: Page<JsonObject> | null = null
      do {
        const cursor: string | null = page?.cursor ?? null
        page = await list(filter, { ...options, limit: LARGEST_PAGE, cursor }, { total: false })
        yield* page
      } while (page.hasMore)
    },
    live: (filter?: object, options: Options = {}) =>
      liveList(wire, path, filter, options, () => list(filter, options)),
    async get(id: string, options?: Options) {
      // The path of the empty id is that of the list.
      if (id === '') return null
      try {
        return await wire.json(at(id), { query: getQuery(options), signal: options?.signal })
      } catch (reason) {
        if (reason instanceof Problem && reason.code === 'not_found') return null
        throw reason
      }
    },
    async count(filter?: object, options: Options = {}) {
      const query = listQuery(filter, options)
      return (await ask(wire, root, `${encodeURIComponent(type)}/count`, query, options.signal)).count
    },
    async aggregate(
      measures: { [measure: string]: readonly string[] | undefined },
      filter?: object,
      options: Options = {},
    ) {
      const words = Object.entries(measures).map(([name, paths]) => [name, paths?.join(',')])
      const query = { ...listQuery(filter, options), ...Object.fromEntries(words) }
      return (await ask(wire, root, `${encodeURIComponent(type)}/aggregate`, query, options.signal)).results
    },
    history: async (id: string, { limit, cursor }: Options = {}) =>
      pageOf(await wire.json(`${at(id)}/history`, { query: { limit, cursor } })),
    timers: async (id: string) => (await wire.json(`${at(id)}/timers`, {})).timers,
    ...(type === 'Workflow' && runsOf(wire, at)),
    diff: (id: string, from: number | Time, to: number | Time) =>
      wire.json(`${at(id)}/diff`, { query: { from: versionText(from), to: versionText(to) } }),
    createMany: (drafts: readonly object[], options: Options = {}) =>
      createMany(wire, root, type, drafts, options.signal),
    create: (draft: object, options?: WriteOptions) =>
      wire.json(path, { method: 'POST', body: draft, ...written(options) }),
    // As a verb and not as DELETE: a POST can carry an Idempotency-Key, so that sending it again is harmless.
    delete: async (id: string, options?: WriteOptions) => void (await run('delete')(id, {}, options)),
    rollback: (id: string, { asOf }: { asOf: AsOf }, options?: WriteOptions) =>
      run('rollback')(id, { asOf: asOfText(asOf) }, options),
  }
  const files = filesOf(wire, { root, type, at, get: methods.get, update: run('update') })
  return new Proxy(
    {
      ...methods,
      ...Object.fromEntries(Object.entries(files).map(([name, method]) => [name, onField(method, run(name))])),
      upsert: (match: JsonObject, draft: JsonObject, options: WriteOptions = {}) =>
        upsert({ ...methods, type, update: run('update') }, match, draft, options),
    },
    {
      get: (known, name) =>
        typeof name === 'symbol' || name === 'then'
          ? undefined
          : Object.hasOwn(known, name)
            ? known[name as keyof typeof known]
            : run(name),
    },
  )
}

/** A method of a file field, or the verb with its name: only the first has the name of a field after the id. */
function onField(method: AnyMethod, verb: AnyMethod): AnyMethod {
  return (id, field, ...rest) => (typeof field === 'string' ? method : verb)(id, field, ...rest)
}

type AnyMethod = (id: string, ...rest: AnyJson[]) => Promise<AnyJson>

/** What a Workflow can be asked in addition to its verbs. */
function runsOf(wire: Wire, at: (id: string) => string) {
  const run = (id: string, name: string) => `${at(id)}/runs/${encodeURIComponent(name)}`
  return {
    runs: async (id: string, query: { status?: string; limit?: number; cursor?: string | null } = {}) =>
      pageOf(await wire.json(`${at(id)}/runs`, { query })),
    run: (id: string, name: string) => wire.json(run(id, name), {}),
    retryRun: (id: string, name: string) => wire.json(`${run(id, name)}/retry`, { method: 'POST', body: {} }),
    cancelRun: (id: string, name: string) => wire.json(`${run(id, name)}/cancel`, { method: 'POST', body: {} }),
  }
}

/** Asks for a list: by its address, or in a batch of one when the filter is long. */
async function ask(wire: Wire, root: string, path: string, query: { filter?: unknown }, signal?: AbortSignal) {
  if (JSON.stringify(query.filter ?? {}).length <= LONGEST_FILTER)
    return wire.json(`${root}/${path}`, { query, signal })
  const operations = [{ id: 'list', method: 'GET', path, query }]
  const { results } = await wire.json(`${root}/batch`, { method: 'POST', body: { operations }, signal })
  const { status, body } = results[0]
  if (status === 200) return body
  throw problemIn(body, status)
}

function versionText(version: number | Time): string {
  return typeof version === 'number' ? String(version) : timeText(version)
}
