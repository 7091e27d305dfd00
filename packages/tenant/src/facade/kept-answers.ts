import { Problem } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { covers, type Grant } from '../grant/grant.ts'
import {
  dropAnswer,
  forgetOldAnswers,
  type KeptAnswer,
  keepAnswer,
  keptAnswer,
  noteProgress,
} from '../store/idempotency.ts'
import { hexOf } from '../store/non-log-tables.ts'

const DAY = 86_400_000

/** The answers to requests with an Idempotency-Key, kept for a day with the rights that they were made with. */
export class KeptAnswers {
  readonly #engine: Engine
  readonly #grant: Grant

  constructor(engine: Engine, grant: Grant) {
    this.#engine = engine
    this.#grant = grant
  }

  /** The answer that was given before, or undefined. Refuses a key that could not make the request any more. */
  get(scope: string): KeptAnswer | undefined {
    const { sql, ports, nouns } = this.#engine
    const known = keptAnswer(sql, scope)
    if (!known || known.at <= ports.clock.now() - DAY) return undefined
    const before = { actor: this.#grant.actor, ...(JSON.parse(known.rights) as Pick<Grant, 'scopes' | 'rows'>) }
    if (covers(this.#grant, before, (area) => nouns.get(area)?.domain ?? null)) return known
    throw new Problem('forbidden', 'The first request needed rights that this key no longer has.', {
      field: 'Idempotency-Key',
    })
  }

  keep(scope: string, answer: Omit<KeptAnswer, 'at' | 'rights'>): void {
    const { sql, ports } = this.#engine
    const { scopes, rows } = this.#grant
    const at = ports.clock.now()
    forgetOldAnswers(sql, at - DAY)
    keepAnswer(sql, scope, { ...answer, rights: JSON.stringify({ scopes, rows }), at })
  }

  /** Notes how far something that has begun is. */
  note(scope: string, progress: string): void {
    noteProgress(this.#engine.sql, scope, progress)
  }

  drop(scope: string): void {
    dropAnswer(this.#engine.sql, scope)
  }

  /** A digest that tells one request from another. */
  digest(...parts: readonly (string | Uint8Array)[]): string {
    return hexOf(this.#engine.ports.seal.sha256(...parts))
  }
}
