import type { JsonObject } from '@tildebase/nouns'
import { LocalStore } from '../../packages/client/src/sync/local.ts'
import { sync } from '../../packages/client/src/sync/sync.ts'
import type { SyncAnswer, SyncRequest } from '../../packages/client/src/types/sync-types.ts'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { sync as syncTenant } from '../../packages/tenant/src/services/sync/sync.ts'
import { openAcme } from '../tenant/fixture.ts'

/** What becomes of one exchange. */
export type Fate = 'arrives' | 'requestLost' | 'answerLost'

/** A server and replicas with their own clocks, over a network that loses, repeats and delays. */
export function openParty(skews: readonly number[], pageSize: number) {
  const { tenant, clock } = openAcme()
  const grant = grantFor('party')
  const sent: SyncRequest[] = []
  const refused = new Set<SyncRequest>()
  /** The latest `syncedAt` given out, and the seq at that time. */
  let given = { at: 0, seq: 0 }
  const stores = skews.map(
    (skew, i) =>
      new LocalStore(
        { replica: `r${i}`, lastSyncAt: null, counter: 0, lastAt: 0, entities: {}, pending: [] },
        { now: () => clock.at + skew },
      ),
  )

  function answer(request: SyncRequest): SyncAnswer {
    const body = { ...request, types: ['Contact'], limit: pageSize }
    const synced = tenant.write(grant, (write) => syncTenant(write, body))
    if (synced.rejected.length > 0) refused.add(request)
    if (!synced.hasMore) given = { at: Date.parse(synced.syncedAt), seq: tenant.head.seq }
    return synced as SyncAnswer
  }

  return {
    tenant,
    clock,
    stores,
    sent,
    /** Requests of which something was rejected: it may be taken when it comes again. */
    refused,
    get given() {
      return given
    },
    /** Exchanges changes, if the network lets it. */
    async meet(i: number, fate: Fate): Promise<void> {
      const send = async (request: SyncRequest) => {
        sent.push(request)
        if (fate === 'requestLost') throw new Error('lost')
        const found = answer(request)
        if (fate === 'answerLost') throw new Error('lost')
        return found
      }
      await sync(stores[i]!, send).catch((reason: Error) => {
        if (reason.message !== 'lost') throw reason
      })
    },
    /** An old request arrives once more, or late. */
    replay(index: number): void {
      if (sent.length > 0) answer(sent[index % sent.length]!)
    },
    /** A write by another way than a sync. Refusals do not matter. */
    write(verb: string, id: string | undefined, data: JsonObject): void {
      try {
        tenant.run(grant, { type: 'Contact', verb, id, data })
      } catch {}
    },
    /** The entities that the server has, by id. */
    entities(): { [id: string]: JsonObject } {
      const rows = tenant.sql.rows(`SELECT id, data FROM states WHERE type = 'Contact' AND gone = 0 ORDER BY id`)
      // A field that is null is as good as none.
      const whole = (data: string) => JSON.parse(data, (_, value) => (value === null ? undefined : value))
      return Object.fromEntries(rows.map(([id, data]) => [id, whole(data)]))
    },
    local(i: number): { [id: string]: JsonObject } {
      const all = stores[i]!.all('Contact').map(({ id, data }) => [id, data] as const)
      return Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))
    },
  }
}
