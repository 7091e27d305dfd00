import { isoOf, type JsonObject, resolveLens } from '@tildebase/nouns'
import { type Grant, OPERATOR, runVerb, snapshot } from '@tildebase/tenant'
import { openAcme } from '../tenant/fixture.ts'

export const DAY = 86_400_000

/** A tenant whose business is made by hand. */
export function openBusiness() {
  const { tenant, clock, alarms } = openAcme()
  const create = (type: string, data: object, more: object = {}): string =>
    runVerb(tenant, OPERATOR, { type, verb: 'create', data, ...more }).entity.id
  return {
    tenant,
    clock,
    alarms,
    create,
    verb: (type: string, id: string, verb: string, data: object = {}) =>
      runVerb(tenant, OPERATOR, { type, verb, id, data }).entity,
    /** A plan with its prices. */
    plan: (data: object, ...prices: object[]): string => {
      const plan = create('Plan', { name: 'Plan', ...data })
      for (const price of prices) create('Price', { plan, ...price })
      return plan
    },
    daysAgo: (days: number) => isoOf(clock.at - days * DAY),
    snapshot: (grant: Grant = OPERATOR, asOf: number | null = null, lens: string[] = []): Record<string, any> =>
      snapshot(tenant, grant, resolveLens(lens), asOf),
    read: (type: string, id: string): JsonObject => tenant.session('test')[type]!.get!(id),
  }
}
