import {
  type ComputedField,
  computedFields,
  type Filter,
  type Hop,
  type Json,
  type Noun,
  type Nouns,
  parseFilter,
  pathsOf,
  resolvePath,
  type Timer,
} from '@tildebase/nouns'
import { type Engine, SCHEMA } from '../engine/engine.ts'
import { dropAuthor } from '../store/automation/authors.ts'
import { changes, isCovered, type Reach, readsAll } from './reach.ts'
import { type Authored, act, authored, builtIn, store, type Thing } from './stored.ts'

/** A part of a type that acts later: a timer or a computed field. */
interface Part<T extends Timer | ComputedField = Timer | ComputedField> {
  readonly thing: Thing
  readonly declaration: T
  /** All that decides what it does: its text, the verb it runs, and the relations it follows in other types. */
  readonly form: Json
  readonly reach: readonly Reach[]
}

/** The timers and computed fields of a tenant with their authors. */
export interface AuthoredParts {
  readonly timers: ReadonlyMap<string, Authored<Timer>>
  readonly computed: ReadonlyMap<string, Authored<ComputedField>>
}

/** On what the authors depend, in addition to the types. */
const AUTHORS = 'authors of parts'
const OF_PARTS = [...SCHEMA, AUTHORS]

/** The timers and computed fields that run: each with an author whose rights cover what it reaches, now. */
export function authoredParts(engine: Engine): AuthoredParts {
  return engine.cache.get(OF_PARTS, 'authored parts', () => {
    const { builtIn, own } = partsOfTypes(engine.nouns, engine.options.nouns)
    if (own.length === 0) return builtIn
    const parts = { timers: new Map(builtIn.timers), computed: new Map(builtIn.computed) }
    for (const part of own) {
      const stored = authored(engine, part.thing, part.declaration, part.form)
      // A type may have moved to a domain that the author has no rights on.
      if (stored && part.reach.every((one) => isCovered(act(stored).grant, one))) note(parts, part, stored)
    }
    return parts
  })
}

/** Ends timers or computed fields that run with the rights of a holder, until they are declared again. */
export function endParts(
  write: { readonly engine: Engine; onRollback(back: () => void): void },
  kind: 'timer' | 'computed',
  ids: readonly string[],
  holder: string,
): void {
  const { engine } = write
  const forget = () => engine.cache.forget(AUTHORS)
  for (const id of ids) dropAuthor(engine.sql, kind, id, holder)
  forget()
  write.onRollback(forget)
}

/**
 * Makes the caller the author of every timer and computed field that its declaration of a type adds or changes, in that type
 * or in another one that follows it. Call it before the declaration is written.
 */
export function storeParts(write: Parameters<typeof store>[0], after: Nouns): void {
  const { engine } = write
  for (const noun of after.all) {
    for (const part of partsOf(after, noun)) {
      if (authorOf(engine, part) === null) store(write, part.thing, part.form, part.reach)
    }
  }
}

/** The timers and computed fields of a type. */
export function partsOf(nouns: Nouns, noun: Noun): readonly Part[] {
  return [...timersOf(nouns, noun), ...computedOf(nouns, noun)]
}

/** A part with its author: the service for what the program declares, the caller who stored it for every other. */
function authorOf(engine: Engine, part: Part): Authored<Part['declaration']> | null {
  if (isOfProgram(part, engine.options.nouns)) return builtIn(part.thing, part.declaration, part.reach)
  return authored(engine, part.thing, part.declaration, part.form)
}

/** The timers and computed fields of some types: those of the program with their author, and those of the tenant. */
interface PartsOfTypes {
  readonly program: Nouns
  readonly builtIn: AuthoredParts
  readonly own: readonly Part[]
}

const known = new WeakMap<Nouns, PartsOfTypes>()

/** What all tenants with these types have in common: it is found once. */
function partsOfTypes(nouns: Nouns, program: Nouns): PartsOfTypes {
  const found = known.get(nouns)
  if (found?.program === program) return found
  const parts = { timers: new Map<string, Authored<Timer>>(), computed: new Map<string, Authored<ComputedField>>() }
  const own: Part[] = []
  for (const part of nouns.all.flatMap((noun) => partsOf(nouns, noun))) {
    if (isOfProgram(part, program)) note(parts, part, builtIn(part.thing, part.declaration, part.reach))
    else own.push(part)
  }
  const made = { program, builtIn: parts, own }
  known.set(nouns, made)
  return made
}

function note(
  parts: { readonly timers: Map<string, unknown>; readonly computed: Map<string, unknown> },
  { thing: { kind, id } }: Part,
  stored: Authored<Part['declaration']>,
): void {
  parts[kind === 'timer' ? 'timers' : 'computed'].set(id, stored)
}

/** Whether the program declares a part as it is. */
function isOfProgram({ thing, form }: Part, program: Nouns): boolean {
  return formsOf(program).get(`${thing.kind} ${thing.id}`) === JSON.stringify(form)
}

/** The forms of what the program declares. */
function formsOf(program: Nouns): ReadonlyMap<string, string> {
  const found = forms.get(program)
  if (found) return found
  const parts = program.all.flatMap((noun) => partsOf(program, noun))
  const made = new Map(parts.map(({ thing, form }) => [`${thing.kind} ${thing.id}`, JSON.stringify(form)]))
  forms.set(program, made)
  return made
}

const forms = new WeakMap<Nouns, ReadonlyMap<string, string>>()

function timersOf(nouns: Nouns, noun: Noun): Part<Timer>[] {
  return Object.values(noun.timers).map((timer) => {
    const id = `${noun.name}.${timer.name}`
    const hops = timer.when === undefined ? [] : hopsOf(conditionOf(nouns, noun, timer))
    const verb = noun.verbs[timer.run]
    return {
      thing: { kind: 'timer', id, actor: `timer:${id}` },
      declaration: timer,
      form: formOf({ timer, verb: verb ?? null, hops }),
      reach: [changes(noun, true), ...targetsOf(nouns, hops)],
    }
  })
}

function computedOf(nouns: Nouns, noun: Noun): Part<ComputedField>[] {
  return computedFields(noun).map((field) => {
    const id = `${noun.name}.${field.name}`
    const { single, many } = pathsOf(field.computed)
    const hops = [...single, ...many].flatMap((text) => {
      const path = resolvePath(text, noun, nouns)
      return 'fault' in path ? [] : path.hops
    })
    return {
      thing: { kind: 'computed', id, actor: `computed:${id}` },
      declaration: field,
      form: formOf({ computed: field.computed, hops }),
      reach: [changes(noun, true), ...targetsOf(nouns, hops)],
    }
  })
}

/** Operands are not looked at here: any time is enough. */
function conditionOf(nouns: Nouns, noun: Noun, { when }: Timer): Filter {
  return parseFilter(when, noun, nouns, 0, { regex: () => null })
}

function hopsOf(filter: Filter): Hop[] {
  if ('path' in filter) return [...filter.path.hops]
  if (filter.op === 'text') return []
  return filter.op === 'not' ? hopsOf(filter.of) : filter.of.flatMap(hopsOf)
}

function targetsOf(nouns: Nouns, hops: readonly Hop[]): Reach[] {
  const targets = new Set(hops.map(({ target }) => target))
  return [...targets].flatMap((target) => nouns.get(target) ?? []).map(readsAll)
}

function formOf(parts: { readonly [name: string]: unknown }): Json {
  return JSON.parse(JSON.stringify(parts)) as Json
}
