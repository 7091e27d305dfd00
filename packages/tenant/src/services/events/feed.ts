import type { Engine } from '../../engine/engine.ts'
import type { LogRow } from '../../store/log/log.ts'
import type { EventSource } from '../../view/event.ts'
import { eventFrame } from './frame.ts'

const MOST_KEPT = 1_000
const MOST_LENGTH = 4_194_304

/** A bounded part of the log as a follower receives it. */
export interface Piece {
  readonly bytes: Uint8Array
  /** The seq that it ends with. */
  readonly position: number
}

/** What just happened in a tenant, for all who follow it: one listener, each event written as text once. */
export class Feed {
  readonly #engine: Engine
  readonly #followers = new Set<() => void>()
  /** The newest events without gaps, kept while there are followers. */
  #recent: LogRow[] = []
  #length = 0
  readonly #texts = new Map<number, string>()
  /** The parts prepared since the last event, by the seq they continue after and by visibility. */
  readonly #pieces = new Map<number, Map<string, Piece>>()
  #told = 0
  #stop: (() => void) | null = null

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Calls `move` whenever the log has moved on, and when the tenant goes to rest; returns how to stop that. */
  follow(move: () => void): () => void {
    this.#stop ??= this.#begin()
    this.#followers.add(move)
    return () => {
      this.#followers.delete(move)
      if (this.#followers.size === 0) this.#end()
    }
  }

  /** The events after a seq if all of them are still in memory; else null, and they are in the log. */
  recent(after: number): readonly LogRow[] | null {
    const { seq } = this.#engine.head
    if (after >= seq) return []
    // The events of another connection come a little after the head has moved.
    if (this.#recent.at(-1)?.seq !== seq) return null
    const first = this.#recent[0]?.seq
    return first !== undefined && first <= after + 1 ? this.#recent.slice(after + 1 - first) : null
  }

  /** An event as a message of a live stream. Its text is kept for the address that the tenant itself shows. */
  frame(row: LogRow, source: EventSource): string {
    if (source.context !== this.#engine.context) return eventFrame(row, source)
    const known = this.#texts.get(row.seq)
    if (known !== undefined) return known
    const text = eventFrame(row, this.#engine)
    if (row.seq >= (this.#recent[0]?.seq ?? Number.POSITIVE_INFINITY)) this.#texts.set(row.seq, text)
    return text
  }

  /** The piece after a seq for all who share a view. It is made once: a thousand of them are sent the same bytes. */
  piece(view: string, after: number, make: () => { readonly text: string; readonly position: number }): Piece {
    const known = this.#pieces.get(after)?.get(view)
    if (known) return known
    const { text, position } = make()
    const piece = { bytes: encoder.encode(text), position }
    if (this.#stop !== null) this.#keepPiece(view, after, piece)
    return piece
  }

  #begin(): () => void {
    const stops = [
      this.#engine.listen((events) => this.#take(events)),
      this.#engine.scheduler.onRest(() => this.#tell()),
    ]
    return () => {
      for (const stop of stops) stop()
    }
  }

  #end(): void {
    this.#stop?.()
    this.#stop = null
    this.#forget()
  }

  #forget(): void {
    this.#recent = []
    this.#length = 0
    this.#texts.clear()
    this.#forgetPieces()
  }

  #keepPiece(view: string, after: number, piece: Piece): void {
    if (this.#told > MOST_LENGTH) this.#forgetPieces()
    this.#told += 500 + piece.bytes.length
    this.#pieces.set(after, (this.#pieces.get(after) ?? new Map()).set(view, piece))
  }

  #forgetPieces(): void {
    this.#pieces.clear()
    this.#told = 0
  }

  #take(events: readonly LogRow[]): void {
    this.#forgetPieces()
    // Erased values must not be sent from memory.
    if (events.some(({ type }) => type === 'Erasure')) this.#forget()
    else this.#keep(events)
    this.#tell()
  }

  #keep(events: readonly LogRow[]): void {
    for (const event of events) {
      this.#recent.push(event)
      this.#length += lengthOf(event)
    }
    let over = 0
    for (; this.#recent.length - over > MOST_KEPT || this.#length > MOST_LENGTH; over++) {
      const oldest = this.#recent[over]!
      this.#length -= lengthOf(oldest)
      this.#texts.delete(oldest.seq)
    }
    if (over > 0) this.#recent.splice(0, over)
  }

  #tell(): void {
    for (const move of [...this.#followers]) move()
  }
}

const encoder = new TextEncoder()
function lengthOf({ data, previous, args }: LogRow): number {
  return 500 + (data?.length ?? 0) + (previous?.length ?? 0) + (args?.length ?? 0)
}
