import type { Filter } from '@tildebase/nouns'
import { type Budget, unlimited } from '../budget.ts'
import type { Engine } from '../engine/engine.ts'
import { type Migration, migrationsOf } from '../engine/migrations.ts'
import { type Grant, isNarrowed, may } from '../grant/grant.ts'
import { CHANGESET } from '../grant/scopes.ts'
import { filterOf, isRelative } from './parameters/filter.ts'
import type { KeptAnswers, ReadContext } from './reader.ts'
import { changesetRows, hidesChangesets } from './rights/changeset-rows.ts'
import { COMMENT, commentRows } from './rights/comment-rows.ts'

/** Reads a tenant with the rights of a grant. */
export function readContextOf(
  engine: Engine,
  grant: Grant,
  budget: Budget = unlimited(),
  context: string = engine.context,
): ReadContext {
  return new GrantedContext(engine, grant, budget, context)
}

class GrantedContext implements ReadContext {
  readonly sql: ReadContext['sql']
  readonly nouns: Engine['nouns']
  readonly now: number
  readonly budget: Budget
  readonly narrow: ReadContext['narrow']
  readonly narrowedTypes: readonly string[]
  readonly totals: ReadContext['totals']
  readonly orders: ReadContext['orders']
  readonly context: string
  readonly #engine: Engine
  readonly #grant: Grant

  constructor(engine: Engine, grant: Grant, budget: Budget, context: string) {
    const narrowed = isNarrowed(grant)
    const hides = hidesChangesets(engine, grant)
    this.sql = engine.sql
    this.nouns = engine.nouns
    this.now = engine.nextTime()
    this.budget = budget
    this.narrow = narrowed || hides ? (type) => rowFilterOf(engine, grant, type) : undefined
    this.narrowedTypes = narrowed || hides ? [...Object.keys(grant.rows), ...(hides ? [CHANGESET] : [])] : NONE
    // A total under a row filter is valid for that key only.
    this.totals = narrowed ? undefined : keptAnswers(engine, '')
    this.orders = narrowed ? undefined : keptAnswers(engine, 'order ')
    this.context = context
    this.#engine = engine
    this.#grant = grant
  }

  foldPast(): void {
    this.#engine.foldPast()
  }

  fieldNumber(type: string, name: string): number | null {
    return this.#engine.fieldNumber(type, name)
  }

  migrations(type: string): readonly Migration[] {
    return migrationsOf(this.#engine, type)
  }

  get rankings(): ReadContext['rankings'] {
    if (this.totals === undefined) return undefined
    return keptAnswers(this.#engine, this.seesPart ? 'own ranking ' : 'ranking ')
  }

  get seesPart(): boolean {
    return this.narrow !== undefined || !this.nouns.all.every((noun) => may(this.#grant, 'read', noun))
  }

  hidden(type: string): boolean {
    return !mayReadEvents(this.#engine, this.#grant, type)
  }
}

const NONE: readonly string[] = []

/** Whether events of this type may be read: those of types that no path can name are for administrators. */
export function mayReadEvents(engine: Engine, grant: Grant, type: string): boolean {
  // The operations of a changeset are shown with the changeset, by its own rules.
  if (type === 'ChangesetPart') return false
  const noun = engine.nouns.get(type)
  return noun?.name === type ? may(grant, 'read', noun) : may(grant, 'admin', { name: type, domain: 'platform' })
}

/** The filter that narrows a type for this grant, or null when all its rows may be seen. */
export function rowFilterOf(engine: Engine, grant: Grant, type: string): Filter | null {
  if (type === CHANGESET) return changesetRows(engine, grant)
  const rows = Object.hasOwn(grant.rows, type) ? grant.rows[type] : undefined
  if (rows === undefined) return null
  const byEntity = type === COMMENT && grant.commentsByEntity
  const key = `rows ${type} ${JSON.stringify(byEntity ? [grant.actor, grant.scopes, grant.rows] : rows)}`
  const known = engine.cache.peek<Filter>(key)
  if (known !== undefined) return known
  const filter = byEntity
    ? commentRows(engine, grant, (one) => rowFilterOf(engine, grant, one))
    : filterOf(engine, engine.noun(type), rows)
  // `7d ago` is another time with each request.
  return isRelative(JSON.stringify(filter)) ? filter : engine.cache.set(['Schema'], key, filter)
}

/**
 * Answers of a kind that were found before, until a type that they depend on changes. Totals, which most lists ask for,
 * have no word before their key: a text that is there is found much faster than a new one.
 */
function keptAnswers<T>({ cache }: Engine, kind: '' | 'order ' | 'ranking ' | 'own ranking '): KeptAnswers<T> {
  return {
    get: (key) => cache.peek<T>(`${kind}${key}`),
    set: (key, types, answer) => void cache.set(['Schema', ...types], `${kind}${key}`, answer),
  }
}
