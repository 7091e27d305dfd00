import { type Issue, MOST_ISSUES, type Noun, Problem } from '@tildebase/nouns'

const ACTIONS = ['read', 'propose', 'write', 'admin'] as const
export type Action = (typeof ACTIONS)[number]

/** A right on an area: `write:crm`. Each action includes those before it; `approve:own` is separate. */
export interface Scope {
  readonly action: Action | 'approve'
  /** `all`, a domain, or a type's name; `own` for `approve`. */
  readonly area: string
}

/** Lets authors approve their own changesets. No other scope includes it. */
const APPROVE_OWN: Scope = { action: 'approve', area: 'own' }

/** Everything, everywhere in the engine. */
export const ALL: readonly Scope[] = [{ action: 'admin', area: 'all' }]

/** Types whose very reading is an administrator's matter. */
const GUARDED = new Set(['ApiKey', 'Webhook'])

/** Types whose entities decide about rights, and about what happens automatically. */
export const SERVICE_TYPES: ReadonlySet<string> = new Set(['ApiKey', 'User', 'Webhook', 'Workflow', 'Integration'])

/** Whether a type belongs to the service itself: stored code and workflows need `admin` on its domain to change it. */
export function isServiceType(name: string): boolean {
  return SERVICE_TYPES.has(name)
}

/** The type whose rows are seen by what they contain, whatever the area: see `query/changeset-rows.ts`. */
export const CHANGESET = 'Changeset'

/** The scopes of a comma-separated text, and what is wrong with it. */
export function parseScopes(
  text: string,
  areas: (area: string) => string | null,
): { scopes: Scope[]; issues: Issue[] } {
  const scopes: Scope[] = []
  const issues: Issue[] = []
  // Each scope once: rights are compared with all of them.
  for (const word of new Set(text.split(',').map((part) => part.trim()))) {
    if (word === '') continue
    if (issues.length > MOST_ISSUES) break
    if (word.toLowerCase() === 'approve:own') {
      scopes.push(APPROVE_OWN)
      continue
    }
    const [action, area, ...rest] = word.split(':')
    const known = area === '*' || area?.toLowerCase() === 'all' ? 'all' : areas(area ?? '')
    if (rest.length > 0 || !isAction(action) || known === null) {
      issues.push({
        field: 'scopes',
        message: `${word} is not a scope; use <action>:<area> with the action read, propose, write or admin and the area all, a domain or a type; or approve:own`,
      })
    } else scopes.push({ action, area: known })
  }
  return { scopes, issues }
}

export function scopesText(scopes: readonly Scope[]): string {
  return scopes.map(({ action, area }) => `${action}:${area}`).join(',')
}

/** Whether these scopes allow an action on a type. */
export function allows(scopes: readonly Scope[], action: Action, noun: Pick<Noun, 'name' | 'domain'>): boolean {
  if (noun.name === CHANGESET && action !== 'admin') return mayTouchChangesets(scopes, action)
  return reaches(scopes, neededFor(action, noun), [noun.name, noun.domain])
}

/** The action that a scope must name to allow an action on a type. */
export function neededFor(action: Action, { name }: Pick<Noun, 'name'>): Action {
  return GUARDED.has(name) ? 'admin' : action
}

/** Every key with a scope may read changesets and, beyond reading, take part in them: their own rules decide the rest. */
function mayTouchChangesets(scopes: readonly Scope[], action: Action): boolean {
  if (action === 'propose') return false
  return ACTIONS.slice(action === 'read' ? 0 : 1).some((one) => scopes.some((scope) => scope.action === one))
}

/** Whether these scopes let authors approve their own changesets. */
export function mayApproveOwn(scopes: readonly Scope[]): boolean {
  return scopes.some(({ action }) => action === 'approve')
}

/** Whether these scopes allow an action on one of the areas, or everywhere. */
export function reaches(scopes: readonly Scope[], action: Action, areas: readonly string[]): boolean {
  const needed = ACTIONS.indexOf(action)
  return scopes.some((scope) => rankOf(scope) >= needed && (scope.area === 'all' || areas.includes(scope.area)))
}

/** The first of some scopes that others do not include, or null. */
export function uncovered(
  held: readonly Scope[],
  given: readonly Scope[],
  domainOf: (area: string) => string | null,
): Scope | null {
  const isHeld = ({ action, area }: Scope) =>
    action === 'approve'
      ? mayApproveOwn(held) || reaches(held, 'admin', [])
      : reaches(held, action, area === 'all' ? [] : [area, domainOf(area) ?? area])
  return given.find((scope) => !isHeld(scope)) ?? null
}

/** What two lists of scopes both allow. */
export function common(
  some: readonly Scope[],
  others: readonly Scope[],
  domainOf: (area: string) => string | null,
): Scope[] {
  const both = some.flatMap((a) =>
    others.flatMap((b): Scope[] => {
      const area = narrower(a.area, b.area, domainOf)
      if (area === null) return []
      const rank = Math.min(rankOf(a), rankOf(b))
      if (rank < 0) return rankOf(a) === rankOf(b) ? [APPROVE_OWN] : []
      return [{ action: ACTIONS[rank]!, area }]
    }),
  )
  return both.filter((scope, i) => uncovered(both.slice(0, i), [scope], domainOf) !== null)
}

/** The smaller of two areas, one of which lies in the other; null when they have nothing in common. */
function narrower(a: string, b: string, domainOf: (area: string) => string | null): string | null {
  if (a === b || b === 'all' || domainOf(a) === b) return a
  return a === 'all' || domainOf(b) === a ? b : null
}

/** Refuses to grant a scope that the caller does not have. */
export function refuseMore(
  held: readonly Scope[],
  given: readonly Scope[],
  domainOf: (area: string) => string | null,
): void {
  const more = uncovered(held, given, domainOf)
  if (more === null) return
  throw new Problem(
    'forbidden',
    `This key cannot grant ${more.action}:${more.area} because it does not have that right.`,
    {
      field: 'scopes',
    },
  )
}

/** How far an action goes; -1 for `approve`, which includes no other. */
function rankOf({ action }: Scope): number {
  return (ACTIONS as readonly string[]).indexOf(action)
}

function isAction(word: string | undefined): word is Action {
  return (ACTIONS as readonly (string | undefined)[]).includes(word)
}
