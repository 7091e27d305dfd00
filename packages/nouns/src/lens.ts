import { nearest } from './nearest.ts'
import { listed } from './notation/english.ts'
import { Problem } from './problem.ts'

/** The part of the data that a host and a path select. It never hides data. */
export interface Lens {
  /** The selected domains; null means all of them. */
  readonly domains: ReadonlySet<string> | null
  /** The industry that lists, counts and searches are filtered by. */
  readonly industry: string | null
  /** The dimensions that were named, without the neutral ones. */
  readonly names: readonly string[]
}

/** The areas of business that the types are grouped in. */
export const DOMAINS = [
  'crm',
  'billing',
  'projects',
  'content',
  'support',
  'analytics',
  'marketing',
  'experiments',
  'platform',
  'identity',
  'communication',
] as const

/** The activities of users, and the domains that belong to them. */
export const JOURNEYS = {
  build: ['projects', 'content', 'platform', 'identity'],
  launch: ['marketing', 'content', 'billing', 'communication'],
  grow: ['crm', 'marketing', 'analytics', 'communication'],
  scale: ['billing', 'support', 'analytics', 'platform', 'identity'],
  automate: ['platform', 'communication', 'analytics'],
  experiment: ['experiments', 'analytics', 'marketing'],
} as const

/** The industries by which a tenant's data can be filtered. */
export const INDUSTRIES = [
  'agriculture',
  'automotive',
  'aviation',
  'construction',
  'consulting',
  'education',
  'energy',
  'finance',
  'government',
  'healthcare',
  'hospitality',
  'insurance',
  'legal',
  'logistics',
  'manufacturing',
  'media',
  'nonprofit',
  'pharma',
  'realestate',
  'retail',
  'technology',
  'telecom',
] as const

/** The lens that selects everything. */
const PLAIN: Lens = { domains: null, industry: null, names: [] }

/** Host labels that select nothing: `db` is the database host. */
const NEUTRAL = ['db', 'api', 'www']

/**
 * The lens of the dimensions in a host and a path, in any order; throws a Problem with the nearest names for unknown
 * ones.
 */
export function resolveLens(dimensions: readonly string[]): Lens {
  if (dimensions.length === 0) return PLAIN
  const names = dimensions.map((name) => name.toLowerCase()).filter((name) => !NEUTRAL.includes(name))
  const unknown = names.filter((name) => kindOf(name) === null)
  if (unknown.length > 0) throw unknownLens(unknown)
  const surfaced = names.flatMap(domainsOf)
  const industries = [...new Set(names.filter((name) => kindOf(name) === 'industry'))]
  if (industries.length > 1) {
    throw new Problem(
      'unknown_lens',
      `A lens can select one industry only; ${listed(industries, 'and')} are ${industries.length}.`,
    )
  }
  return { domains: surfaced.length > 0 ? new Set(surfaced) : null, industry: industries[0] ?? null, names }
}

function kindOf(name: string): 'domain' | 'journey' | 'industry' | null {
  if (isOneOf(DOMAINS, name)) return 'domain'
  if (Object.hasOwn(JOURNEYS, name)) return 'journey'
  return isOneOf(INDUSTRIES, name) ? 'industry' : null
}

function domainsOf(name: string): readonly string[] {
  if (isOneOf(DOMAINS, name)) return [name]
  return Object.hasOwn(JOURNEYS, name) ? JOURNEYS[name as keyof typeof JOURNEYS] : []
}

function isOneOf(words: readonly string[], word: string): boolean {
  return words.includes(word)
}

function unknownLens(unknown: readonly string[]): Problem {
  const known = [...DOMAINS, ...Object.keys(JOURNEYS), ...INDUSTRIES]
  const near = unknown.flatMap((name) => nearest(name, known))
  const hint = near.length > 0 ? ` The nearest ${near.length > 1 ? 'are' : 'is'} ${listed(near, 'and')}.` : ''
  const subject = unknown.length > 1 ? `${listed(unknown, 'and')} are not lenses` : `${unknown[0]} is not a lens`
  return new Problem('unknown_lens', `${subject}: a lens is a domain, a journey or an industry.${hint}`, {
    nearest: near,
  })
}
