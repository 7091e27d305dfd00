import { isoOf, type JsonObject, resolveLens } from '@tildebase/nouns'
import { type Grant, OPERATOR } from '@tildebase/tenant'
import { unlimited } from '../../packages/tenant/src/budget.ts'
import { openAcme } from '../tenant/fixture.ts'

export const DAY = 86_400_000

/** A tenant whose business is made by hand. */
export function openBusiness() {
  const { tenant, clock, alarms } = openAcme()
  const create = (type: string, data: object, more: object = {}): string =>
    tenant.run(OPERATOR, { type, verb: 'create', data, ...more }).entity.id
  const business = (grant: Grant = OPERATOR) => tenant.facade.read(grant, unlimited()).business
  return {
    tenant,
    /** Metrics and flags, as a grant may read them. */
    business,
    clock,
    alarms,
    create,
    verb: (type: string, id: string, verb: string, data: object = {}) =>
      tenant.run(OPERATOR, { type, verb, id, data }).entity,
    /** A plan with its prices. */
    plan: (data: object, ...prices: object[]): string => {
      const plan = create('Plan', { name: 'Plan', ...data })
      for (const price of prices) create('Price', { plan, ...price })
      return plan
    },
    daysAgo: (days: number) => isoOf(clock.at - days * DAY),
    snapshot: (grant: Grant = OPERATOR, asOf: number | null = null, lens: string[] = []): Record<string, any> =>
      business(grant).snapshot(resolveLens(lens), asOf),
    read: (type: string, id: string): JsonObject => tenant.session('test')[type]!.get!(id),
  }
}
