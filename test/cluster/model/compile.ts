import { isDeepStrictEqual } from 'node:util'
import { runInThisContext } from 'node:vm'

/** An expression of Quint, as `quint compile --target json` prints it. */
type Expression =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'int' | 'bool' | 'str'; readonly value: number | boolean | string }
  | { readonly kind: 'app'; readonly opcode: string; readonly args: readonly Expression[] }
  | { readonly kind: 'lambda'; readonly params: readonly { readonly name: string }[]; readonly expr: Expression }
  | { readonly kind: 'let'; readonly opdef: Definition; readonly expr: Expression }

interface Definition {
  readonly kind: 'def'
  readonly name: string
  readonly qualifier: string
  readonly expr: Expression
}

/** The output of `quint compile --target json`, as far as it is used. */
export interface Compiled {
  readonly modules: readonly {
    readonly declarations: readonly (Definition | { readonly kind: 'var'; readonly name: string })[]
  }[]
}

/** The variables of a model. */
export type State = { readonly [variable: string]: unknown }

/** What can happen in a state. The state after it is computed when it is asked for. */
interface Option {
  readonly variable: (name: string) => unknown
  readonly state: () => State
}

/** A model that runs: its first state, what can happen in a state, and the values that are defined by a state. */
export interface Machine {
  initial(): State
  options(state: State): readonly Option[]
  value(name: string, state: State): unknown
}

/**
 * Translates a model into JavaScript. Quint's own evaluator takes some hundred steps a second, which is too few to
 * find rare histories. Sets are arrays without equal members, maps are `Map`s with simple keys. An action becomes the
 * list of all that it can do. `constants` replace constants of the model.
 */
export function machineOf({ modules }: Compiled, constants: { readonly [name: string]: unknown } = {}): Machine {
  const declarations = modules.flatMap((module) => module.declarations)
  const definitions = declarations.filter((one) => one.kind === 'def')
  const text = new Text(new Set(declarations.flatMap(({ kind, name }) => (kind === 'var' ? [name] : []))))
  const source = definitions.map((definition) => {
    const constant = constants[lastName(definition.name)]
    const value = constant === undefined ? text.ofDefinition(definition) : `() => (${JSON.stringify(constant)})`
    return `const ${plain(definition.name)} = ${value};`
  })
  const values = definitions.map(({ name }) => `${JSON.stringify(lastName(name))}: ${plain(name)}`)
  const build = runInThisContext(
    `(function (op, memo) { "use strict"; let state; ${source.join('\n')}
      return { values: { ${values.join(', ')} }, set: (next) => { state = next } } })`,
  ) as (op: typeof OPERATORS, memo: typeof memoize) => { values: Record<string, () => unknown>; set(next: State): void }
  const { values: functions, set } = build(OPERATORS, memoize)
  const value = (name: string, state: State) => {
    set(state)
    return functions[name]!()
  }
  const optionsOf = (action: string, state: State) =>
    (value(action, state) as Assignments[]).map((assignments) => {
      const variable = (name: string) => {
        set(state)
        return assignments[name]!()
      }
      return {
        variable,
        state: () => Object.fromEntries(Object.keys(assignments).map((name) => [name, variable(name)])),
      }
    })
  return {
    initial: () => optionsOf('init', {})[0]!.state(),
    options: (state) => optionsOf('step', state),
    value,
  }
}

/** Writes JavaScript. The flattened names of Quint are unique, so a name is a parameter everywhere or nowhere. */
class Text {
  readonly #variables: ReadonlySet<string>
  readonly #parameters = new Set<string>()
  readonly #values = new Set<string>()

  constructor(variables: ReadonlySet<string>) {
    this.#variables = variables
  }

  /** Values without parameters are functions, so that those that are not needed cost nothing. */
  ofDefinition({ expr, qualifier }: Definition): string {
    if (expr.kind === 'lambda') return this.#of(expr)
    // A value without a state is computed once.
    return qualifier === 'pureval' ? `memo(() => (${this.#of(expr)}))` : `() => (${this.#of(expr)})`
  }

  #of(expression: Expression): string {
    switch (expression.kind) {
      case 'int':
      case 'bool':
      case 'str':
        return JSON.stringify(expression.value)
      case 'name':
        return this.#ofName(expression.name)
      case 'lambda': {
        for (const { name } of expression.params) this.#isParameter(name)
        return `((${expression.params.map(({ name }) => plain(name)).join(', ')}) => (${this.#of(expression.expr)}))`
      }
      case 'let':
        return this.#ofLet(expression.opdef, expression.expr)
      case 'app':
        return this.#ofApplication(expression.opcode, expression.args)
    }
  }

  #ofName(name: string): string {
    if (name === 'true' || name === 'false') return name
    if (this.#variables.has(name)) return `state.${lastName(name)}`
    return this.#parameters.has(name) ? plain(name) : `${plain(name)}()`
  }

  #ofLet({ name, qualifier, expr }: Definition, body: Expression): string {
    const bound = plain(name)
    if (qualifier === 'nondet' && expr.kind === 'app' && expr.opcode === 'oneOf') {
      this.#isParameter(name)
      return `${this.#of(expr.args[0]!)}.flatMap((${bound}) => ${this.#of(body)})`
    }
    if (this.#parameters.has(name)) throw new Error(`${name} is a parameter and a value.`)
    this.#values.add(name)
    const value = expr.kind === 'lambda' ? this.#of(expr) : `memo(() => (${this.#of(expr)}))`
    return `((${bound}) => (${this.#of(body)}))(${value})`
  }

  #isParameter(name: string): void {
    if (this.#values.has(name)) throw new Error(`${name} is a value and a parameter.`)
    this.#parameters.add(name)
  }

  #ofApplication(opcode: string, args: readonly Expression[]): string {
    const texts = args.map((one) => this.#of(one))
    switch (opcode) {
      case 'and':
        return `(${texts.join(' && ')})`
      case 'or':
        return `(${texts.join(' || ')})`
      case 'implies':
        return `(!${texts[0]} || ${texts[1]})`
      case 'ite':
        return `(${texts[0]} ? ${texts[1]} : ${texts[2]})`
      case 'Rec':
        return `{ ${texts.map((text, at) => (at % 2 === 0 ? `${at > 0 ? ', ' : ''}${text}: ` : text)).join('')} }`
      case 'with':
        return texts[0]!.startsWith('{ ')
          ? `${texts[0]!.slice(0, -2)}, ${texts[1]}: ${texts[2]} }`
          : `{ ...${texts[0]}, ${texts[1]}: ${texts[2]} }`
      case 'field':
        return `${texts[0]}[${texts[1]}]`
      case 'actionAny':
        return `[${texts.map((text) => `...${text}`).join(', ')}]`
      case 'actionAll':
        return `op.inTurn([${texts.map((text) => `() => ${text}`).join(', ')}])`
      case 'assign':
        return `[{ ${lastName((args[0] as { name: string }).name)}: () => (${texts[1]}) }]`
    }
    if (Object.hasOwn(OPERATORS, opcode)) return `op.${opcode}(${texts.join(', ')})`
    return `${plain(opcode)}(${texts.join(', ')})`
  }
}

function plain(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_]/g, '$')
}

function lastName(name: string): string {
  return name.slice(name.lastIndexOf(':') + 1)
}

function memoize<T>(compute: () => T): () => T {
  let known: { readonly value: T } | null = null
  return () => {
    known ??= { value: compute() }
    return known.value
  }
}

/** The new values of variables. */
type Assignments = { readonly [variable: string]: () => unknown }
type Value = unknown
type Values = readonly Value[]
type Table = ReadonlyMap<Value, Value>

const isEqual = (one: Value, other: Value) =>
  one === other || (typeof one === 'object' && isDeepStrictEqual(one, other))
const includes = (set: Values, value: Value) => set.some((one) => isEqual(one, value))
const unique = (values: Values) => values.filter((value, at) => values.findIndex((one) => isEqual(one, value)) === at)
/** Sets with the same members are equal as arrays, too. */
const setOf = (values: Values): Values =>
  values.length < 2
    ? values
    : unique(values).toSorted((a, b) => {
        const [one, other] = typeof a === 'object' ? [JSON.stringify(a), JSON.stringify(b)] : [a as string, b as string]
        return one < other ? -1 : 1
      })

/** The operators of Quint that the model uses. */
const OPERATORS = {
  inTurn: (parts: readonly (() => boolean | readonly Assignments[])[]): readonly Assignments[] => {
    let states: readonly Assignments[] = [{}]
    for (const part of parts) {
      const result = part()
      if (result === false) return []
      if (result !== true) states = states.flatMap((state) => result.map((next) => ({ ...state, ...next })))
    }
    return states
  },
  not: (value: boolean) => !value,
  eq: isEqual,
  neq: (one: Value, other: Value) => !isEqual(one, other),
  iadd: (one: number, other: number) => one + other,
  isub: (one: number, other: number) => one - other,
  iuminus: (one: number) => -one,
  ilt: (one: number, other: number) => one < other,
  ilte: (one: number, other: number) => one <= other,
  igt: (one: number, other: number) => one > other,
  igte: (one: number, other: number) => one >= other,
  Tup: (...parts: Values) => parts,
  item: (tuple: Values, at: number) => tuple[at - 1],
  List: (...parts: Values) => parts,
  append: (list: Values, value: Value) => [...list, value],
  concat: (one: Values, other: Values) => [...one, ...other],
  nth: (list: Values, at: number) => {
    if (at < 0 || at >= list.length) throw new RangeError(`A list of ${list.length} has no member ${at}.`)
    return list[at]
  },
  length: (list: Values) => list.length,
  indices: (list: Values) => list.map((_, at) => at),
  slice: (list: Values, from: number, to: number) => list.slice(from, to),
  range: (from: number, to: number) => Array.from({ length: Math.max(0, to - from) }, (_, at) => from + at),
  select: (list: Values, test: (value: Value) => boolean) => list.filter((value) => test(value)),
  foldl: (list: Values, first: Value, add: (sum: Value, value: Value) => Value) =>
    list.reduce((sum, value) => add(sum, value), first),
  Set: (...parts: Values) => setOf(parts),
  in: (value: Value, set: Values) => includes(set, value),
  contains: (set: Values, value: Value) => includes(set, value),
  union: (one: Values, other: Values) => setOf([...one, ...other]),
  exclude: (one: Values, other: Values) => one.filter((value) => !includes(other, value)),
  subseteq: (one: Values, other: Values) => one.every((value) => includes(other, value)),
  filter: (set: Values, test: (value: Value) => boolean) => set.filter((value) => test(value)),
  map: (set: Values, change: (value: Value) => Value) => setOf(set.map((value) => change(value))),
  fold: (set: Values, first: Value, add: (sum: Value, value: Value) => Value) =>
    set.reduce((sum, value) => add(sum, value), first),
  forall: (set: Values, test: (value: Value) => boolean) => set.every((value) => test(value)),
  exists: (set: Values, test: (value: Value) => boolean) => set.some((value) => test(value)),
  size: (set: Values) => set.length,
  Map: (...parts: readonly (readonly [Value, Value])[]) => new Map(parts),
  mapBy: (set: Values, get: (key: Value) => Value) => new Map(set.map((key) => [key, get(key)])),
  keys: (table: Table) => setOf([...table.keys()]),
  get: (table: Table, key: Value) => {
    if (!table.has(key)) throw new RangeError(`A map has no key ${key}.`)
    return table.get(key)
  },
  set: (table: Table, key: Value, value: Value) => new Map(table).set(key, value),
  put: (table: Table, key: Value, value: Value) => new Map(table).set(key, value),
}
