import { catalogue, DOMAINS, INDUSTRIES, JOURNEYS, type Noun } from '@tildebase/nouns'
import { code, codes, table } from './markdown.ts'

const NOUNS = Object.values(catalogue) as unknown as readonly Noun[]

/** The domains, as areas of scopes, with their types. */
export function areaTable(): string {
  return table(
    ['Area', 'Types'],
    DOMAINS.map((domain) => [
      code(domain),
      codes(NOUNS.filter((noun) => noun.domain === domain).map(({ name }) => name)),
    ]),
  )
}

/** What a subdomain or a path segment can select. */
export function lensTable(): string {
  return table(
    ['Dimension', 'Words', 'Effect'],
    [
      ['Domain', codes(DOMAINS), 'Surfaces the types of the domain.'],
      ['Journey', codes(Object.keys(JOURNEYS)), 'Surfaces the types of several domains.'],
      ['Industry', codes(INDUSTRIES), 'Filters lists, counts and searches by industry.'],
    ],
  )
}
