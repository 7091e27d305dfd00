import {
  extended,
  type Field,
  isComputed,
  isPlainObject,
  type Json,
  type JsonObject,
  type Noun,
  type Nouns,
  parseNoun,
  renameInNotation,
  sameJson,
} from '@tildebase/nouns'
import type { Given } from './given.ts'
import { type Ask, changesBetween, type Step } from './step.ts'

/** What the steps of types are worked out from. */
export interface TypesNow {
  readonly nouns: Nouns
  readonly own: ReadonlyMap<string, JsonObject>
  readonly ask: Ask
  /** Whether the caller may read the entities of a type. */
  readonly may: (noun: Noun) => boolean
}

/** A type that is to be declared, with the order in which its parts are possible. */
interface Wanted {
  readonly name: string
  readonly notation: JsonObject
  readonly noun: Noun
}

/** The steps that bring the types of a tenant into the declared form: renames, conversions, declarations. */
export async function typeSteps(now: TypesNow, { types = {}, renamed = {} }: Given): Promise<Step[]> {
  const wanted = Object.entries(types).map(([name, notation]) => wantedType(now, name, notation))
  const steps: Step[] = []
  const known = new Set(now.nouns.all.map(({ name }) => name))
  const pending = new Map(wanted.map((one) => [one.name, one]))
  while (pending.size > 0) {
    const ready = [...pending.values()].find((one) => isReady(one.noun, known, pending))
    if (ready) {
      pending.delete(ready.name)
      steps.push(...(await stepsOf(now, ready, renamed[ready.name] ?? {})))
      known.add(ready.name)
    } else {
      // Types that need each other: the first is declared without that, and completed at the end.
      const [first] = [...pending.values()].filter(({ name }) => !known.has(name))
      if (first) steps.push(created(first, reduced(first)))
      for (const name of first ? [first.name] : pending.keys()) known.add(name)
      if (!first) break
    }
  }
  // What is left are known types whose relations lead in a circle: any order does.
  for (const left of pending.values()) steps.push(...(await stepsOf(now, left, renamed[left.name] ?? {})))
  return steps
}

/** A declared type without the parts that a built-in type of the same name has already. */
function wantedType({ nouns, own }: TypesNow, name: string, given: JsonObject): Wanted {
  const before = nouns.get(name)
  const { $domain, ...rest } = given
  const notation = $domain === undefined || $domain === 'custom' ? rest : given
  const isBuiltIn = before?.name === name && isBuiltInType(before, own.get(name) ?? {})
  if (!isBuiltIn) return { name, notation, noun: parseNoun(name, notation, { domain: 'custom' }) }
  const mine = own.get(name) ?? {}
  const added = Object.entries(notation).filter(
    ([key, value]) => Object.hasOwn(mine, key) || !sameJson(before.notation[key] ?? null, value),
  )
  return { name, notation: Object.fromEntries(added), noun: extended(before, notation) }
}

/** Whether the service, or the program of the operator, has the type without the tenant. */
function isBuiltInType({ notation }: Noun, own: JsonObject): boolean {
  return Object.keys(notation).some((key) => !key.startsWith('$') && !Object.hasOwn(own, key))
}

/** Whether all is there that a type points to: the types, and the declarations that inverses and sums rest on. */
function isReady(noun: Noun, known: ReadonlySet<string>, pending: ReadonlyMap<string, Wanted>): boolean {
  const fields = Object.values(noun.fields)
  const rests = fields.some((field) => isComputed(field)) ? fields : fields.filter(({ kind }) => kind === 'back')
  const isThere = (name: string) => name === noun.name || known.has(name) || !pending.has(name)
  const isSettled = (name: string) => name === noun.name || !pending.has(name)
  return fields.flatMap(targetsOf).every(isThere) && rests.flatMap(targetsOf).every(isSettled)
}

function targetsOf(field: Field): readonly string[] {
  if (field.kind === 'back') return [field.target]
  return field.kind === 'forward' ? (field.targets ?? [field.target]) : []
}

/** The plain fields of a type. */
function reduced({ notation, noun }: Wanted): JsonObject {
  const kept = Object.entries(notation).filter(([name]) => {
    const field = Object.hasOwn(noun.fields, name) ? noun.fields[name] : undefined
    if (field === undefined) return name === '$domain' || name === '$path' || name === '$strict'
    return targetsOf(field).length === 0 && !isComputed(field)
  })
  return Object.fromEntries(kept)
}

function created({ name }: Wanted, notation: JsonObject): Step {
  return { ...step(name), action: 'create', changes: changesBetween({}, notation, same), request: put(name, notation) }
}

/** All steps of one type. */
async function stepsOf(now: TypesNow, wanted: Wanted, renamed: { readonly [field: string]: string }): Promise<Step[]> {
  const { name, notation, noun } = wanted
  const before = now.nouns.get(name)?.name === name ? now.nouns.get(name)! : null
  if (before === null) return [created(wanted, notation)]
  let own = now.own.get(name) ?? {}
  const steps: Step[] = []
  for (const [to, from] of Object.entries(renamed)) {
    if (typeof own[from] !== 'string' || Object.hasOwn(own, to) || typeof notation[to] !== 'string') continue
    own = renameInNotation(own, from, to)
    steps.push({
      ...step(name),
      action: 'rename',
      changes: [{ part: from, from, to }],
      request: { method: 'POST', path: `/schema/${name}/rename`, body: { from, to } },
    })
  }
  const after = (field: string) => (Object.hasOwn(noun.fields, field) ? noun.fields[field]! : null)
  const wanting = changesBetween(own, notation, same)
  const afterwards: Step[] = []
  for (const { part, from, to } of wanting) {
    const isConverted =
      typeof from === 'string' && typeof to === 'string' && convertsValues(before, renamed, part, after)
    if (!isConverted) continue
    // A state that goes may be one of a verb that goes, too: the verbs first.
    if (after(part)?.kind === 'enum' && wanting.some((other) => isPlainObject(other.from))) {
      afterwards.push(converted(name, part, from, to))
      continue
    }
    own = { ...own, [part]: to }
    steps.push(converted(name, part, from, to))
  }
  const changes = changesBetween(own, notation, same)
  if (changes.length === 0) return steps
  const lost = changes.filter(({ from, to }) => typeof from === 'string' && to === null)
  let loses = 0
  for (const { part, from } of lost) {
    if (storesValues(before, part, from)) loses = Math.max(loses, await valuesIn(now, name, part))
  }
  const hint = renameHint(changes)
  const isEmpty = Object.keys(notation).length === 0
  steps.push({
    ...step(name),
    action: 'change',
    changes,
    loses,
    ...(hint && { hint }),
    request: isEmpty ? { method: 'DELETE', path: `/schema/${name}` } : put(name, notation),
  })
  // A new field that stored entities must have, or that they have a value of already.
  for (const { part, from, to } of changes) {
    const field = after(part)
    if (from !== null || typeof to !== 'string' || field === null || !isStored(field)) continue
    const filter = 'required' in field && field.required ? {} : { [part]: { $exists: true } }
    if (mayRead(now, name) && (await total(now.ask, name, filter)) > 0) steps.push(converted(name, part, from, to))
  }
  return [...steps, ...afterwards]
}

function converted(name: string, part: string, from: unknown, to: string): Step {
  return {
    ...step(name),
    action: 'convert',
    changes: [{ part, from, to }],
    request: { method: 'POST', path: `/schema/${name}/retype`, body: { field: part, to } },
  }
}

/** Whether stored values may have to change with a field: not for another index, default or name of an inverse. */
function convertsValues(
  before: Noun,
  renamed: { readonly [field: string]: string },
  part: string,
  after: (field: string) => Field | null,
): boolean {
  const old = before.fields[renamed[part] ?? part] ?? before.fields[part]
  const next = after(part)
  if (old === undefined || next === null || !isStored(old) || !isStored(next)) return false
  if (isWider(old, next)) return false
  const valued = ({ name: _, index: _i, default: _d, inverse: _n, ...rest }: { [key: string]: unknown }) => rest as Json
  return !sameJson(valued(old as never), valued(next as never))
}

/** Whether a choice only gets more values. */
function isWider(old: Field, next: Field): boolean {
  if (old.kind !== 'enum' || next.kind !== 'enum' || old.list !== next.list || old.required !== next.required)
    return false
  return (old.values ?? []).every((value) => next.values?.includes(value))
}

function isStored(field: Field): boolean {
  return field.kind !== 'back' && !isComputed(field)
}

function storesValues({ fields }: Noun, part: string, notation: unknown): boolean {
  return typeof notation === 'string' && (!Object.hasOwn(fields, part) || isStored(fields[part]!))
}

/** How many entities have a value in a field. */
function valuesIn({ ask }: TypesNow, type: string, field: string): Promise<number> {
  return total(ask, type, { [field]: { $exists: true } })
}

/** A key that may not read a type can still add to it: its entities are then not looked at. */
function mayRead({ nouns, may }: TypesNow, type: string): boolean {
  return may(nouns.get(type)!)
}

async function total(ask: Ask, type: string, filter: JsonObject): Promise<number> {
  const page = await ask(`/${type}`, { limit: 1, filter })
  return isPlainObject(page) && typeof page.total === 'number' ? page.total : 0
}

/** A field that is gone and a new one of the same kind may be one field. */
function renameHint(changes: readonly { part: string; from: unknown; to: unknown }[]): string | undefined {
  const gone = changes.filter(({ from, to }) => typeof from === 'string' && to === null)
  for (const { part, from } of gone) {
    const like = changes.find((other) => other.from === null && other.to === from)
    if (like) return `If ${part} was renamed to ${like.part}, declare it: { renamed: { ${like.part}: '${part}' } }`
  }
  return undefined
}

function step(name: string): Pick<Step, 'kind' | 'name' | 'loses' | 'migrates'> {
  return { kind: 'type', name, loses: 0, migrates: 0 }
}

function put(name: string, body: JsonObject): Step['request'] {
  return { method: 'PUT', path: `/schema/${name}`, body }
}

function same(a: unknown, b: unknown): boolean {
  return sameJson((a ?? null) as Json, (b ?? null) as Json)
}
