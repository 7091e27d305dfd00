import { expect, test } from 'vitest'
import { verifies } from '../../../test/verifies.ts'
import { catalogue } from './catalogue/index.ts'
import { DOMAINS, JOURNEYS, resolveLens } from './lens.ts'
import { Problem } from './problem.ts'

test.each([
  ['nothing', [], null, null],
  ['the database host', ['db'], null, null],
  ['a domain', ['crm'], ['crm'], null],
  ['a journey', ['experiment'], ['experiments', 'analytics', 'marketing'], null],
  ['an industry', ['healthcare'], null, 'healthcare'],
  ['two domains', ['crm', 'billing'], ['crm', 'billing'], null],
  ['any case', ['CRM', 'Healthcare'], ['crm'], 'healthcare'],
])('%s is a lens', (_, dimensions, domains, industry) => {
  const lens = resolveLens(dimensions)

  expect([lens.domains && [...lens.domains], lens.industry]).toEqual([domains, industry])
})

test('subdomain and path segment are interchangeable', () => {
  const { names: _, ...one } = resolveLens(['crm', 'healthcare'])
  const { names: __, ...other } = resolveLens(['healthcare', 'crm'])

  expect(one).toEqual(other)
})

test('the error for an unknown dimension names the nearest ones', () => {
  expect(() => resolveLens(['crm', 'helthcare'])).toThrow(
    new Problem(
      'unknown_lens',
      'helthcare is not a lens: a lens is a domain, a journey or an industry. The nearest is healthcare.',
      { nearest: ['healthcare'] },
    ),
  )
  expect(() => resolveLens(['constructor'])).toThrow(Problem)
  expect(() => resolveLens(['finance', 'retail'])).toThrow('one industry')
})

verifies('lens.domain', 'each of the eleven domains of the catalogue is a lens', () => {
  const domains = new Set(Object.values(catalogue).map(({ domain }) => domain))

  expect(new Set(DOMAINS)).toEqual(domains)
  expect(DOMAINS).toHaveLength(11)
  for (const domain of domains) expect(resolveLens([domain]).domains).toEqual(new Set([domain]))
})

verifies('lens.journey', 'each journey is a lens that selects domains', () => {
  expect(Object.keys(JOURNEYS)).toEqual(['build', 'launch', 'grow', 'scale', 'automate', 'experiment'])
  for (const [journey, domains] of Object.entries(JOURNEYS)) {
    expect(resolveLens([journey]).domains).toEqual(new Set(domains))
    for (const domain of domains) expect(DOMAINS).toContain(domain)
  }
})
