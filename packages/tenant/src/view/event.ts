import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { LogRow } from '../store/log/log.ts'
import { entityText } from './entity.ts'

/** The tenant that an event belongs to, as the record shows it. */
export interface EventSource {
  readonly slug: string
  readonly context: string
}

/** An event as the change stream, SSE and webhooks show it, as JSON text. */
export function eventText(event: LogRow, source: EventSource): string {
  const data = event.data === null ? 'null' : entityText(stateOf(event, event.data), source.context)
  return (
    `{"id":"${event.id}","type":"${event.type}.${event.event}","timestamp":"${isoOf(event.at)}",${recordedText(event)}"tenant":"${source.slug}",` +
    `"data":${data}${event.previous === null ? '' : `,"previous":${event.previous}`}` +
    `${event.args === null ? '' : `,"args":${event.args}`},"seq":${event.seq},` +
    `"verb":"${event.verb}","entityType":"${event.type}","entityId":"${event.entity}","version":${event.version},` +
    `"actor":${JSON.stringify(event.actor)}` +
    `${event.onBehalfOf ? `,"onBehalfOf":${JSON.stringify(event.onBehalfOf)}` : ''}` +
    `${event.correlation === null ? '' : `,"correlation":${JSON.stringify(event.correlation)}`}}`
  )
}

/** The time at which a change of the past was recorded. */
function recordedText({ recordedAt }: LogRow): string {
  return recordedAt === null ? '' : `"recordedAt":"${isoOf(recordedAt)}",`
}

export function eventView(event: LogRow, source: EventSource): JsonObject {
  return JSON.parse(eventText(event, source))
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
