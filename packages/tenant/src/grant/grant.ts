import { type Noun, Problem, sameJson } from '@tildebase/nouns'
import { type Action, ALL, allows, isServiceType, neededFor, reaches, type Scope, uncovered } from './scopes.ts'

/** An actor and its rights. Every access to a tenant has one. */
export interface Grant {
  /** What the log shows as the actor: the id of a key, a person or an agent, `operator`, a hook's name. */
  readonly actor: string
  readonly scopes: readonly Scope[]
  /** The rows of each type that the key is narrowed to, as filters in the query language. */
  readonly rows: { readonly [type: string]: unknown }
  /** For what is stored and acts later (`authorship/`): whose rights these are. It cannot create API keys. */
  readonly author?: Author
  /** The person that an agent acts for. The log shows it next to the actor. */
  readonly onBehalfOf?: string
  /** The session or the consent that it comes from: the grant ends with it. */
  readonly credential?: string
  readonly limits?: GrantLimits
  /** The one path that a token is for, as its resource indicator said: `mcp`. */
  readonly only?: string
  /** The scopes that the client narrowed its token to, when it renewed it. */
  readonly narrowedTo?: readonly Scope[]
  /** Whether of all comments it sees those about entities that it may read. */
  readonly commentsByEntity?: true
}

/** Who stored something: a key, a person, or an agent on behalf of a person. */
export interface Author {
  readonly actor: string
  readonly onBehalfOf?: string
}

/** What an agent is held to in addition to its scopes and rows. */
export interface GrantLimits {
  /** Verbs that it may run per day (UTC). */
  readonly writesPerDay?: number
  /** Results that one answer may have. */
  readonly rowsPerAnswer?: number
  /** The verbs that it may run: `create`, `Deal.win`; absent is all that its scopes allow. */
  readonly verbs?: readonly string[]
}

/** The operator's grant: everything. */
export const OPERATOR: Grant = { actor: 'operator', scopes: ALL, rows: {} }

/** A grant for the tenant's own code, under its own name. */
export function grantFor(actor: string): Grant {
  return { actor, scopes: ALL, rows: {} }
}

/** The person whose rights these are: the one who signed in, or the one that an agent acts for. */
export function personOf({ actor, onBehalfOf }: Grant): string | null {
  if (actor.startsWith('user_')) return actor
  return actor.startsWith('agent_') ? (onBehalfOf ?? null) : null
}

/** Whether the grant allows an action on a type. */
export function may(grant: Grant, action: Action, noun: Pick<Noun, 'name' | 'domain'>): boolean {
  return allows(grant.scopes, action, noun)
}

/** Whether the grant can only read and propose. */
export function onlyProposes({ scopes }: Grant): boolean {
  const has = (...actions: readonly Scope['action'][]) => scopes.some(({ action }) => actions.includes(action))
  return has('propose') && !has('write', 'admin')
}

/** Refuses an action that the grant does not allow on a type. */
export function demand(grant: Grant, action: Action, noun: Noun): void {
  if (may(grant, action, noun)) return
  if (action === 'write' && may(grant, 'propose', noun)) {
    throw new Problem(
      'forbidden',
      `This key may only propose changes to ${noun.name}. Add ?propose=<title> to the request; another key then approves the changeset.`,
      { type: noun.name },
    )
  }
  throw new Problem(
    'forbidden',
    `This key may not ${action} ${noun.name}. It needs ${neededFor(action, noun)}:${noun.domain} or more.`,
    {
      type: noun.name,
    },
  )
}

/** The right that a grant needs to write a type. What is stored changes the service's own types as administrators only. */
export function writing({ author }: Grant, { name }: Pick<Noun, 'name'>): Action {
  return author !== undefined && isServiceType(name) ? 'admin' : 'write'
}

/** Refuses an action that the grant does not allow in an area: `identity`, `platform`, `all`. */
export function demandArea(grant: Grant, action: Action, area: string): void {
  if (reaches(grant.scopes, action, [area])) return
  throw new Problem('forbidden', `This key does not have this right. It needs ${action}:${area} or more.`)
}

/** Whether these are the rights of an agent, or of something that an agent stored. */
export function isAgents({ actor, author }: Grant): boolean {
  return (author?.actor ?? actor).startsWith('agent_')
}

/** Refuses agents what would outlive the consent of their person. */
export function demandNoAgent(grant: Grant, what: string): void {
  if (isAgents(grant)) throw new Problem('forbidden', `An agent cannot ${what}: a person must do it.`)
}

/** Refuses an agent whose answers are limited, for what has no pages. */
export function demandUnlimited({ limits }: Grant): void {
  if (limits?.rowsPerAnswer === undefined) return
  const message = `This agent may get at most ${limits.rowsPerAnswer} entities per answer. Read lists page by page instead.`
  throw new Problem('forbidden', message)
}

/** Whether the grant is narrowed to some rows of some types. */
export function isNarrowed(grant: Grant): boolean {
  for (const _ in grant.rows) return true
  return false
}

/** Whether the grant sees only some changesets: those that touch what it may not read are hidden. */
export function seesSomeChangesets(grant: Grant): boolean {
  return isNarrowed(grant) || !reaches(grant.scopes, 'read', [])
}

/**
 * Whether a grant can do all that another can: it holds its scopes, and where it is narrowed itself, the other is
 * narrowed at least as much.
 */
export function covers(grant: Grant, other: Grant, domainOf: (area: string) => string | null): boolean {
  if (uncovered(grant.scopes, other.scopes, domainOf) !== null) return false
  return Object.entries(grant.rows).every(([type, filter]) => isWithin(other.rows[type], filter))
}

/** Refuses a grant that does not have every right on every row. */
export function demandAll(grant: Grant, what: string): void {
  if (covers(grant, OPERATOR, () => null)) return
  throw new Problem('forbidden', `${what} needs admin:all, without a row filter.`, { missing: 'admin:all' })
}

/** Whether a row filter is another one, or that and more. */
function isWithin(filter: unknown, outer: unknown): boolean {
  if (filter === undefined) return false
  if (sameJson(filter as never, outer as never)) return true
  const parts = (filter as { $and?: unknown }).$and
  return Array.isArray(parts) && parts.some((part) => isWithin(part, outer))
}
