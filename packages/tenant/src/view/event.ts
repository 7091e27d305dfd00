import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import type { LogRow } from '../store/log.ts'
import { entityText } from './entity.ts'

/** An event as the change stream, SSE and webhooks show it, as JSON text. */
export function eventText(event: LogRow, tenant: Pick<Engine, 'slug' | 'context'>): string {
  const data = event.data === null ? 'null' : entityText(stateOf(event, event.data), tenant.context)
  return (
    `{"id":"${event.id}","type":"${event.type}.${event.event}","timestamp":"${isoOf(event.at)}","tenant":"${tenant.slug}",` +
    `"data":${data}${event.previous === null ? '' : `,"previous":${event.previous}`},"seq":${event.seq},` +
    `"verb":"${event.verb}","entityType":"${event.type}","entityId":"${event.entity}","version":${event.version},` +
    `"actor":${JSON.stringify(event.actor)}` +
    `${event.correlation === null ? '' : `,"correlation":${JSON.stringify(event.correlation)}`}}`
  )
}

export function eventView(event: LogRow, tenant: Pick<Engine, 'slug' | 'context'>): JsonObject {
  return JSON.parse(eventText(event, tenant))
}

/** The entity as it was right after an event. */
export function stateOf(event: LogRow, data: string) {
  return {
    ordinal: 0,
    id: event.entity,
    type: event.type,
    version: event.version,
    createdAt: event.createdAt,
    createdBy: event.createdBy,
    updatedAt: event.at,
    data,
  }
}
