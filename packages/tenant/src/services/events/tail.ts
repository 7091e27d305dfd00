import type { Engine } from '../../engine/engine.ts'
import { sliceOf } from '../../engine/turns.ts'
import type { Grant } from '../../grant/grant.ts'
import { viewKey } from '../../query/rights/visibility.ts'
import type { Feed } from './feed.ts'

/** Sent when much was read without a match: others have their turn before the stream continues. */
const PAUSE = ':\n\n'

/** Makes the piece of the log after a seq, as a grant sees it. */
type Maker = (after: number, grant: Grant) => { readonly text: string; readonly position: number }

/** Goes along the log from a seq on, in pieces that are made once for all followers that share a view of it. */
export class Tail {
  readonly #engine: Engine
  readonly #feed: Feed
  readonly #make: Maker
  readonly #about: string
  #position: number
  #grant: Grant | null = null
  #view = ''

  /** `about` names the content, which is the same for all receivers. */
  constructor(engine: Engine, feed: Feed, about: string, position: number, make: Maker) {
    this.#engine = engine
    this.#feed = feed
    this.#about = about
    this.#position = position
    this.#make = make
  }

  /** A bounded piece of what is new; empty when the log has to move on first. */
  read(grant: Grant): string | Uint8Array {
    if (grant !== this.#grant) this.#view = `${this.#about} ${viewKey(grant)}`
    this.#grant = grant
    const { head } = this.#engine
    const isOver = sliceOf(this.#engine.ports)
    while (this.#position < head.seq) {
      const after = this.#position
      const { bytes, position } = this.#feed.piece(this.#view, after, () => this.#make(after, grant))
      this.#position = position
      if (bytes.length > 0) return bytes
      if (isOver()) break
    }
    return this.#position < head.seq ? PAUSE : ''
  }

  isBehind(): boolean {
    return this.#position < this.#engine.head.seq
  }
}
