import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Engine } from '../../engine/engine.ts'
import { type LogRow, readEntry } from '../../store/log/log.ts'
import { eventText } from '../../view/event.ts'

/** So many characters are kept: what some webhooks have been sent and others are about to be. Long texts are not. */
const MOST_LENGTH = 131_072

/** An event, and its text as a webhook that may see all of it receives it. */
interface Known {
  readonly event: LogRow
  readonly text: string
}

/** Events that several webhooks receive: each is read and written as text once. Erased values are not sent from here. */
export class EventTexts {
  readonly #engine: Engine
  readonly #known: () => BoundedMap<number, Known>

  constructor(engine: Engine) {
    this.#engine = engine
    this.#known = engine.cache.memo(
      ['Erasure'],
      () => new BoundedMap<number, Known>(MOST_LENGTH, ({ text }) => text.length),
    )
  }

  /** The event of a seq and its text, as `view` shows it; null when it does not. */
  of(seq: number, view: (event: LogRow) => LogRow | null): Known | null {
    const known = this.#read(seq)
    const event = view(known.event)
    if (event === null) return null
    return event === known.event ? known : { event, text: eventText(event, this.#engine) }
  }

  #read(seq: number): Known {
    const texts = this.#known()
    const known = texts.get(seq)
    if (known) return known
    const event = readEntry(this.#engine.sql, seq)!
    const text = eventText(event, this.#engine)
    if (text.length > MOST_LENGTH / 2) return { event, text }
    texts.set(seq, { event, text })
    return { event, text }
  }
}
