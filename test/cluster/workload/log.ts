import type { LoggedEvent } from '../history/history.ts'
import { insist } from './request.ts'

/** The events of a tenant after `cursor`, oldest first. */
export async function readLog(urls: readonly string[], tenant: string, cursor: number): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = []
  let next = cursor
  for (;;) {
    const page = await insist(urls, 'GET', `/~${tenant}/events?cursor=${next}&limit=1000&total=false`)
    for (const event of page.results) {
      const isWorkload = event.entityType === 'Contact' && (event.verb === 'create' || event.verb === 'update')
      log.push({
        seq: event.seq,
        id: event.id,
        entity: event.entityId,
        version: event.version,
        verb: event.verb,
        value: isWorkload ? (event.data?.value ?? null) : null,
      })
    }
    next = Number(page.cursor)
    if (!page.hasMore) return log
  }
}
