import { Problem } from '../problem.ts'
import { type Tildebase, type TildebaseOptions, tildebase } from '../tildebase.ts'
import { company, PEOPLE } from './company.ts'

/** The tenant of the demo. */
export const DEMO = 'demo'

/** What the demo has, and how long it took. */
export interface LoadedDemo {
  readonly events: number
  readonly seconds: number
}

/** Fills the tenant `demo` with a company of two years, unless it has one. Null if it has. */
export async function loadDemo(baseUrl: string, apiKey: string, now: number): Promise<LoadedDemo | null> {
  const begun = performance.now()
  const demo = { baseUrl, tenant: DEMO, apiKey }
  if ((await tildebase(demo).status()).log.seq > 0) return null
  await fillWithDemo(demo, now)
  const { log } = await tildebase(demo).status()
  return { events: log.seq, seconds: (performance.now() - begun) / 1_000 }
}

/** Writes the company of the demo into a tenant that has no entities yet. */
export async function fillWithDemo(options: TildebaseOptions, now: number): Promise<void> {
  const demo = tildebase(options)
  await demo.request('POST', '/import/User', { body: PEOPLE })
  const report = await demo.importHistory(company(now))
  if (report.errors > 0) throw new Problem('internal', `The demo is not valid: ${JSON.stringify(report.details[0])}`)
  await propose(demo)
}

/** Proposals that wait for a decision. */
async function propose(demo: Tildebase): Promise<void> {
  for (const deal of await demo.Deal.find({ stage: 'Negotiation' }, { limit: 3 })) {
    const value = Math.round((deal.value ?? 0) * 0.9)
    await demo.propose(`Ten percent off for ${deal.name}`, ($) => $.Deal.update(deal.$id, { value }))
  }
  const waiting = await demo.Ticket.find({ status: 'InProgress' }, { limit: 5 })
  await demo.propose('Raise the priority of tickets that wait', async ($) => {
    for (const { $id } of waiting) await $.Ticket.update($id, { priority: 'Urgent' })
  })
}
