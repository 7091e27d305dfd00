import type { LogRow } from '../../store/log/log.ts'
import { type EventSource, eventText } from '../../view/event.ts'

/** One message of a live stream. */
export function frame(seq: number, event: string, data: string): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${data}\n\n`
}

/** An event as a message of a live stream. */
export function eventFrame(row: LogRow, source: EventSource): string {
  return frame(row.seq, `${row.type}.${row.event}`, eventText(row, source))
}
