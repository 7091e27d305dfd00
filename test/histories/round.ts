import type { Chance } from '../chance.ts'
import { findAnomalies } from './anomalies.ts'
import { judgeReplay, type LoggedEvent, type Request } from './replay.ts'
import { insist, logOf, type Service } from './service.ts'
import type { Anomaly, Transaction } from './transaction.ts'
import { Workload } from './workload.ts'

export interface RoundOptions {
  readonly clients: number
  /** How many requests are answered before the clients stop. */
  readonly requests: number
  /** Something that happens to the service in the middle. */
  readonly disturb?: () => Promise<void>
}

/** All that was seen of one tenant. */
export interface Played {
  readonly transactions: readonly Transaction[]
  readonly requests: readonly Request[]
  readonly log: readonly LoggedEvent[]
  /** What `verify` answers. */
  readonly verdict: { readonly ok: boolean }
}

/** Lets clients of one tenant work at the same time. */
export async function play(
  service: Service,
  tenant: string,
  chance: Chance,
  { clients, requests, disturb }: RoundOptions,
): Promise<Played> {
  const workload = new Workload(service, tenant)
  await workload.prepare(chance)
  const middle = requests * chance.between(0.2, 0.8)
  let disturbed: Promise<void> | undefined
  const isOver = () => {
    const count = workload.requests.length
    if (count >= middle) disturbed ??= disturb?.()
    return count >= requests
  }
  const names = Array.from({ length: clients }, (_, index) => `c${index}`)
  await Promise.all(names.map((name) => workload.run(name, chance.fork(), isOver)))
  await disturbed
  await workload.finish(chance)
  return {
    transactions: workload.transactions,
    requests: workload.requests,
    log: await logOf(service, tenant),
    verdict: await insist(service, 'GET', `/operator/tenants/${tenant}/verify`),
  }
}

/** What must not be: by the answers alone, and by the answers next to the log. */
export function judge({ transactions, requests, log, verdict }: Played): Anomaly[] {
  return [
    ...findAnomalies(transactions),
    ...judgeReplay(log, requests),
    ...(verdict.ok ? [] : [{ kind: 'verify', message: JSON.stringify(verdict) }]),
  ]
}

/** How much was played. */
export function counts({ transactions, requests, log }: Played) {
  const having = (outcome: string) => requests.filter((one) => one.outcome === outcome).length
  return {
    transactions: transactions.length,
    acknowledged: having('ok'),
    refused: having('fail'),
    unknown: having('unknown'),
    lists: requests.flatMap(({ parts }) => parts).filter(({ kind }) => kind === 'list').length,
    events: log.length,
  }
}
