import { type Json, orderedJson, Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Engine } from '../engine/engine.ts'
import { type Author, covers, type Grant } from '../grant/grant.ts'
import type { Scope } from '../grant/scopes.ts'
import { authorRecord, saveAuthor } from '../store/automation/authors.ts'
import { hexOf } from '../store/non-log-tables.ts'
import { demandReach, type Reach } from './reach.ts'

/** The kinds of things with an author. Each has a row in docs/security.md and in test/rights. */
export const KINDS = [
  'hook',
  'workflow',
  'timer',
  'computed',
  'webhook',
  'key rows',
  'role rows',
  'consent rows',
  'migration',
  'guard',
  'integration',
  'agent',
] as const

export type Kind = (typeof KINDS)[number]

/** A thing that is stored: its kind, its id (`Type.name` for a part of a type), and the name that the log shows. */
export interface Thing {
  readonly kind: Kind
  readonly id: string
  /** What the log shows as the actor: `workflow:workflow_1`. */
  readonly actor: string
}

/** Who stored a thing, and with which rights. */
export interface Authorship extends Author {
  readonly grant: Pick<Grant, 'scopes' | 'rows'>
}

/** The part of a write that storing needs. */
interface Storing {
  readonly engine: Engine
  readonly grant: Grant
  readonly context: { readonly recorder: unknown }
}

let make: <T>(thing: Thing, author: Authorship, declaration: T) => Authored<T>
let open: <T>(stored: Authored<T>) => T

/**
 * A declaration with its author. Only this module makes one, and only `act` opens it: the declaration comes with the grant
 * that it runs with, or not at all.
 */
export class Authored<T> {
  readonly thing: Thing
  readonly author: Authorship
  readonly #declaration: T

  private constructor(thing: Thing, author: Authorship, declaration: T) {
    this.thing = thing
    this.author = author
    this.#declaration = declaration
  }

  static {
    make = (thing, author, declaration) => new Authored(thing, author, declaration)
    open = (stored) => stored.#declaration
  }
}

/**
 * Writes down that the caller stored this declaration. Refuses a caller that may not do all that the thing can reach. The
 * only maker of an author: what timers, hooks, computed values, undo and rollback leave has the author that stored the same
 * declaration before, or none, and then does not run.
 */
export function store<T extends Json>(write: Storing, thing: Thing, declaration: T, reach: readonly Reach[]): void {
  const { engine, grant } = write
  const { author } = draft(write, thing, declaration, reach)
  const digest = digestOf(engine, declaration)
  const record = JSON.stringify(author)
  if (authorRecord(engine.sql, thing.kind, thing.id, digest) === record) return
  const holder = holderOf(grant.author ?? grant)
  saveAuthor(engine.sql, { kind: thing.kind, thing: thing.id, digest, holder, record, seq: engine.head.seq })
}

/** A declaration that the caller tries without storing it, with the same check. */
export function draft<T>(write: Storing, thing: Thing, declaration: T, reach: readonly Reach[]): Authored<T> {
  const { grant } = write
  if (grant.limits !== undefined) {
    throw new Problem('forbidden', `An agent with limits cannot store a ${thing.kind}: it would run without them.`)
  }
  demandReach(grant, thing.kind, reach, write.context.recorder !== null)
  const { actor, onBehalfOf } = grant.author ?? grant
  const author: Authorship = {
    actor,
    ...(onBehalfOf !== undefined && { onBehalfOf }),
    grant: { scopes: grant.scopes, rows: grant.rows },
  }
  return make(thing, author, declaration)
}

/** A declaration that is stored, with the author who stored it; null when no caller stored it as it is now. */
export function authored<T>(engine: Engine, thing: Thing, declaration: T, form: Json): Authored<T> | null {
  const record = authorRecord(engine.sql, thing.kind, thing.id, digestOf(engine, form))
  return record === null ? null : make(thing, JSON.parse(record) as Authorship, declaration)
}

/** A declaration of the program itself. Its author is the service, with the rights that the declaration names. */
export function builtIn<T>(thing: Thing, declaration: T, reach: readonly Reach[]): Authored<T> {
  const scopes = reach.map(({ action, noun }): Scope => ({ action, area: noun.name }))
  return make(thing, { actor: 'service', grant: { scopes, rows: {} } }, declaration)
}

/** What a stored thing does and the grant that it does it with. The only way to either. */
export function act<T>(stored: Authored<T>): { readonly declaration: T; readonly grant: Grant } {
  const { actor, onBehalfOf, grant } = stored.author
  const author = { actor, ...(onBehalfOf !== undefined && { onBehalfOf }) }
  return { declaration: open(stored), grant: { actor: stored.thing.actor, ...grant, author } }
}

/** Refuses a caller that would change, start or redirect a thing with more rights than its own. */
export function demandCovers(engine: Engine, grant: Grant, stored: Authored<unknown> | null, type: string): void {
  // A stored thing runs without the limits of an agent.
  if (stored === null ? grant.limits === undefined : isWithin(engine, grant, stored)) return
  throw new Problem('forbidden', `This key cannot change or run a ${type} with more rights than its own.`, { type })
}

/** Whether a grant may see the values that a stored thing reads and writes. */
export function maySeeValues(engine: Engine, grant: Grant, stored: Authored<unknown> | null): boolean {
  if (stored === null) return true
  // Reading suffices, but for the types whose reading is an administrator's matter.
  return coversReading(engine, grant, stored, ({ action }) => action === 'admin')
}

/** Whether a grant may read the types and rows that a stored thing reads, as far as they need no administrator. */
export function mayRead(engine: Engine, grant: Grant, stored: Authored<unknown> | null): boolean {
  return stored === null || coversReading(engine, grant, stored, () => false)
}

function coversReading(
  engine: Engine,
  grant: Grant,
  stored: Authored<unknown>,
  isKept: (scope: Scope) => boolean,
): boolean {
  const { scopes, rows } = act(stored).grant
  const needed = scopes.map((scope) => (isKept(scope) ? scope : { ...scope, action: 'read' as const }))
  return covers(grant, { actor: '', scopes: needed, rows }, domainIn(engine))
}

/** The key or the person that holds the rights of an author: an agent has those of its person. */
export function holderOf({ actor, onBehalfOf }: Author): string {
  return actor.startsWith('agent_') && onBehalfOf !== undefined ? onBehalfOf : actor
}

/** Writes down the author of a thing of an earlier version, whose rights were kept elsewhere, if none is known. */
export function inherit(engine: Engine, thing: Thing, form: Json, author: Authorship): void {
  const digest = digestOf(engine, form)
  if (authorRecord(engine.sql, thing.kind, thing.id, digest) !== null) return
  const record = JSON.stringify(author)
  saveAuthor(engine.sql, { kind: thing.kind, thing: thing.id, digest, holder: holderOf(author), record, seq: 0 })
}

/** Whether a grant may do all that a stored thing does. */
export function isWithin(engine: Engine, grant: Grant, stored: Authored<unknown>): boolean {
  return grant.limits === undefined && covers(grant, act(stored).grant, domainIn(engine))
}

function domainIn({ nouns }: Engine): (area: string) => string | null {
  return (area) => nouns.get(area)?.domain ?? null
}

/** Digests of declarations that were looked for: a workflow looks for its author in every step. */
const DIGESTS = new BoundedMap<string, string>(200)
const LONGEST_KNOWN = 20_000

/** A digest of a declaration, whatever the order of its keys. */
function digestOf({ ports }: Engine, form: Json): string {
  const text = JSON.stringify(form)
  const known = DIGESTS.get(text)
  if (known !== undefined) return known
  const digest = hexOf(ports.seal.sha256(orderedJson(form))).slice(0, 32)
  if (text.length <= LONGEST_KNOWN) DIGESTS.set(text, digest)
  return digest
}
