import { type AsOf, isoOf } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { type LogPart, portableLog } from '../services/portable/log.ts'
import { replay, type Slice } from '../services/portable/replay.ts'
import { entitiesByType, firstEventAt } from '../services/status.ts'
import { derivedFaults, type Fault, type Verdict, verify } from '../services/verify.ts'
import {
  type Content,
  contentOf,
  contentsAfter,
  isField,
  missingContents,
  saveContent,
} from '../store/files/contents.ts'
import { type Head, seqAt } from '../store/log/log.ts'
import { type Origin, readOrigin } from '../store/log/origin.ts'

/** What there is of a tenant. */
export interface TenantInfo {
  readonly tenant: string
  readonly events: number
  readonly entities: { readonly [type: string]: number }
  readonly createdAt: string | null
  readonly updatedAt: string | null
  /** What it is a fork of. */
  readonly origin?: Origin
}

/** A log answers with so many missing contents at most; after these were sent, others may be missing. */
const MOST_MISSING = 100_000
const PAGE = 1_000

/** A tenant as a whole, for hosts that act for the operator. No rights are applied here. */
export class TenantAdmin {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  get head(): Head {
    return this.#engine.head
  }

  /** The seq that a moment means: of a time, the last event at or before it. */
  seqOf(moment: AsOf): number {
    const { sql, head } = this.#engine
    return 'seq' in moment ? Math.min(moment.seq, head.seq) : seqAt(sql, head, moment.at)
  }

  info(): TenantInfo {
    const { head, slug } = this.#engine
    const first = firstEventAt(this.#engine)
    const origin = readOrigin(this.#engine.sql)
    return {
      tenant: slug,
      events: head.seq,
      entities: Object.fromEntries(entitiesByType(this.#engine)),
      createdAt: first === null ? null : isoOf(first),
      updatedAt: head.seq === 0 ? null : isoOf(head.at),
      ...(origin && { origin }),
    }
  }

  /**
   * Goes through the whole tenant: the file, the chain of the log, and everything that is made from it. `tell` is called
   * with the events that are done.
   */
  verify(tell: (done: number, of: number) => void = () => {}): Verdict {
    return verify(this.#engine, tell)
  }

  /**
   * What differs from the log that it was made from. That is all there is to verify where the log was replayed: each event
   * was tested against the chain then, and the host tests the file.
   */
  derivedFaults(): readonly Fault[] {
    return derivedFaults(this.#engine)
  }

  /** Writes a copy of the database to a path, where the host has files. Writes continue meanwhile, and are in the copy. */
  async copyTo(path: string): Promise<void> {
    await this.#engine.sql.copyTo?.(path)
  }

  /** The tenant as lines of JSON that every host can read, page by page. */
  log(part: LogPart): Generator<string> {
    return portableLog(this.#engine, part)
  }

  /** Brings the tenant to the state of a portable log, or of a slice of one. */
  replay(
    source: AsyncIterable<Uint8Array>,
    pause: () => Promise<void>,
    slice: Slice = {},
  ): Promise<{ readonly events: number }> {
    return replay(this.#engine, source, pause, slice)
  }

  /** Where the bytes of a content are. */
  content(hash: string): Content | null {
    return contentOf(this.#engine.sql, hash)
  }

  /** All contents of file fields, in the order of their hashes. Other JSON may look like a file, without content. */
  *contents(): Generator<Content> {
    const { sql } = this.#engine
    for (let after = ''; ; ) {
      const page = contentsAfter(sql, after, PAGE)
      yield* page.filter(({ key, hash }) => key !== null || isField(sql, hash))
      if (page.length < PAGE) return
      after = page.at(-1)!.hash
    }
  }

  /** The contents whose bytes are still to come. */
  missingContents(): string[] {
    return missingContents(this.#engine.sql, MOST_MISSING)
  }

  /** Makes bytes that were stored part of the tenant. False when it had them already. */
  takeIn(content: Content): boolean {
    const { sql, ports } = this.#engine
    this.#engine.commit(() => saveContent(sql, content, ports.clock.now()))
    return contentOf(sql, content.hash)?.key === content.key
  }

  /** Leaves nothing in the files of what was overwritten, where the host can do that. */
  scrub(): void {
    this.#engine.sql.scrub?.()
  }
}
