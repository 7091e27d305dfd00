import { isPlainObject, type Json, Problem } from '@tildebase/nouns'
import type { Budget } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { asOfSeq } from '../../query/parameters/parameters.ts'
import {
  bodyNames,
  filterNames,
  listedNames,
  MOST_UNKNOWN,
  searchBudget,
  sortNames,
  type UnknownField,
  unknownField,
  unknownMembers,
} from '../../query/parameters/unknown-names.ts'
import { isReadOperation } from '../session.ts'
import type { ScriptCall } from './call.ts'

/** A name that code used for a type which does not know it. */
export interface CodeWarning extends UnknownField {
  readonly type: string
}

/** Collects the unknown names in the calls of one run of code; `strict` refuses the call instead. */
export class CodeWarnings {
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #strict: boolean
  readonly #search: Budget
  readonly #found = new Map<string, CodeWarning>()

  constructor(engine: Engine, grant: Grant, strict: boolean, cpu: () => number) {
    this.#engine = engine
    this.#grant = grant
    this.#strict = strict
    this.#search = searchBudget(cpu)
  }

  get list(): readonly CodeWarning[] {
    return [...this.#found.values()]
  }

  /** Looks at a call before it runs: what it writes is known from then on. */
  look(call: ScriptCall): void {
    const noun = this.#engine.nouns.get(call.type)
    if (!noun || this.#found.size >= MOST_UNKNOWN || this.#search.msLeft <= 0) return
    const unknown = unknownOptions(call)
    if (this.#strict && unknown.length > 0) throw refusal(noun.name, unknown[0]!, `an option of ${call.operation}`)
    for (const option of unknown)
      this.#found.set(`${noun.name}.${call.operation} ${option.field}`, { type: noun.name, ...option })
    const search = { budget: this.#search, asOf: this.#momentIn(call, noun.name) }
    for (const name of namesIn(call, noun)) {
      const key = `${noun.name} ${name}`
      const unknown = this.#found.has(key) ? null : unknownField(this.#engine, this.#grant, noun, name, search)
      if (unknown === null) continue
      if (this.#strict) throw refusal(noun.name, unknown)
      this.#found.set(key, { type: noun.name, ...unknown })
    }
  }

  /** The seq that a call asks about; null is the present. */
  #momentIn({ operation, args }: ScriptCall, type: string): number | null {
    if (!isReadOperation(operation)) return null
    const options = args[operation === 'aggregate' ? 0 : 1]
    return isPlainObject(options) && options.asOf !== undefined ? asOfSeq(this.#engine, options.asOf, type) : null
  }
}

function* namesIn({ operation, args }: ScriptCall, noun: Parameters<typeof bodyNames>[0]): Generator<string> {
  const [first, second] = args
  switch (operation) {
    case 'find':
    case 'findOne':
    case 'findPage':
    case 'count':
      yield* filterNames(first)
      yield* optionNames(second)
      return
    case 'aggregate':
      if (!isPlainObject(first)) return
      yield* filterNames(first.filter)
      for (const part of ['group', 'sum', 'avg', 'min', 'max']) yield* measureNames(first[part])
      return
    case 'get':
      yield* optionNames(second)
      return
    case 'create':
      yield* bodyNames(noun, undefined, first)
      return
    default:
      if (Object.hasOwn(noun.verbs, operation)) yield* bodyNames(noun, noun.verbs[operation], second)
  }
}

function* optionNames(options: Json | undefined): Generator<string> {
  if (!isPlainObject(options)) return
  yield* sortNames(options.sort)
  yield* listedNames(options.fields)
}

/** A group may be one of times, by a period: `createdAt:month`. */
function measureNames(names: unknown): string[] {
  return listedNames(names).map((name) => name.replace(/:\w+$/, ''))
}

/** What the calls that read take beside a filter or an id. */
const OPTIONS: readonly string[] = ['sort', 'limit', 'offset', 'cursor', 'include', 'fields', 'asOf']

/** The options of a call that no call has: `asof`. */
function unknownOptions({ operation, args }: ScriptCall): readonly UnknownField[] {
  return isReadOperation(operation) ? unknownMembers(args[1], OPTIONS) : []
}

function refusal(type: string, { field, nearest }: UnknownField, what = `a field of ${type}`): Problem {
  const message = `is not ${what}${nearest === null ? '' : `; did you mean ${nearest}?`}`
  return new Problem('validation_error', `With strict, only known names are allowed. ${field} ${message}`, {
    type,
    field,
    details: [{ field, message }],
  })
}
