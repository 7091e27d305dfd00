import { Problem } from '@tildebase/nouns'
import type { AnyJson } from '../transport/any-json.ts'
import { problemIn, type Wire } from '../transport/wire.ts'
import type { BatchAnswer, BatchOptions, Ref } from '../types/batch-types.ts'
import { type Asking, getQuery, listQuery } from './query.ts'

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly query?: object
}

/** Writes down what `build` does, sends it as one batch, and gives the results by step. */
export async function batch(
  wire: Wire,
  root: string,
  build: (builder: AnyJson) => unknown,
  { atomic, signal }: BatchOptions = {},
): Promise<BatchAnswer> {
  const operations: Operation[] = []
  const ids = new WeakMap<object, string>()
  const add = (operation: Omit<Operation, 'id'>) => {
    const id = `step${operations.length + 1}`
    operations.push({ id, ...operation })
    const step = stepOf(id)
    ids.set(step, id)
    return step
  }
  build(new Proxy({}, { get: (_, type) => (typeof type === 'string' ? writerOf(type, add) : undefined) }))
  if (operations.length === 0) return { results: [], correlation: undefined, of: noStep }

  const answer = await wire.json(`${root}/batch`, { method: 'POST', body: { atomic, operations }, signal })
  const { results, correlation } = answer as BatchAnswer
  return {
    results,
    correlation,
    of(step: object) {
      const id = ids.get(step)
      const found = results.find((result) => result.id === id)
      if (!found) return noStep()
      if (found.status >= 300) throw problemIn(found.body, found.status)
      return found.body
    },
  }
}

/** The methods of one type; each adds one operation. */
function writerOf(type: string, add: (operation: Omit<Operation, 'id'>) => object): object {
  const path = encodeURIComponent(type)
  const methods: { [name: string]: (...args: AnyJson[]) => object } = {
    find: (filter?: object, options?: Asking) => add({ method: 'GET', path, query: listQuery(filter, options) }),
    get: (id: string | Ref<string>, options?: Asking) =>
      add({ method: 'GET', path: `${path}/${idText(id)}`, query: getQuery(options) }),
    create: (body: object) => add({ method: 'POST', path, body }),
  }
  return new Proxy(methods, {
    get: (known, name) =>
      typeof name === 'symbol'
        ? undefined
        : Object.hasOwn(known, name)
          ? known[name]
          : (id: string | Ref<string>, body: object = {}) =>
              add({ method: 'POST', path: `${path}/${idText(id)}/${encodeURIComponent(name)}`, body }),
  })
}

/** Any property of a step is a reference to that of its result. */
function stepOf(id: string): object {
  return new Proxy({}, { get: (_, path) => (typeof path === 'string' ? { $ref: id, path } : undefined) })
}

function idText(id: string | Ref<string>): string {
  return typeof id === 'string' ? encodeURIComponent(id) : `\${${id.$ref}.${id.path}}`
}

function noStep(): never {
  throw new Problem('unknown_step', 'This step does not belong to this batch.')
}
