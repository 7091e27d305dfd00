import { EVERYTHING, type Filter, type JsonObject, matchWords, type Noun, touches } from '@tildebase/nouns'
import { unlimited } from '../../budget.ts'
import type { Engine } from '../../engine/engine.ts'
import { timerOf } from '../../engine/turns.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { scan } from '../../query/answer/scan.ts'
import { SIZES, SliceWidth } from '../../query/answer/search.ts'
import { readContextOf, rowFilterOf } from '../../query/read-context.ts'
import { viewKey } from '../../query/rights/visibility.ts'
import { isText } from '../../query/words/text-index.ts'
import type { Stored } from '../../store/entities.ts'
import { lastSeqOf } from '../../store/log/changes.ts'

/**
 * A page has about so many characters of data: as many rows as that is, by those of the page before. Others wait while it is
 * read and written, so it takes a millisecond or two.
 */
const PAGE_LENGTH = 65_536
const FIRST_ROWS = 16
const MOST_ROWS = 160

interface Way {
  readonly filter: Filter
  readonly asOf: number | null
  readonly test?: (entity: Stored) => boolean
}

/** The entities of a type that pass a filter, as they are at one moment, however long the reading takes. */
export class Snapshot {
  readonly noun: Noun
  readonly #engine: Engine
  readonly #grant: Grant
  readonly #filter: Filter
  /** The moment, as a seq. */
  readonly seq: number
  readonly #types: readonly string[]
  readonly #words: readonly string[]

  constructor(engine: Engine, grant: Grant, noun: Noun, filter: Filter, asOf: number | null = null) {
    demand(grant, 'read', noun)
    this.noun = noun
    this.#engine = engine
    this.#grant = grant
    this.#filter = filter
    this.seq = Math.min(asOf ?? engine.head.seq, engine.head.seq)
    const narrow = rowFilterOf(engine, grant, noun.name)
    this.#types = [...new Set([noun.name, ...touches(filter), ...(narrow ? touches(narrow) : [])])]
    this.#words = wordsIn(filter)
  }

  /** The entities page by page, in the order of their creation. A page is empty where others may have their turn. */
  *pages(): Generator<readonly Stored[]> {
    const slice = new SliceWidth(SIZES.first)
    let after = 0
    for (let size = FIRST_ROWS; ; ) {
      const { filter, asOf, test } = this.#way()
      const reader = readContextOf(this.#engine, this.#grant, unlimited(timerOf(this.#engine.ports)))
      const { rows, reached } = scan(reader, { type: this.noun.name, filter, asOf }, after, size, slice)
      yield test ? rows.filter(test) : rows
      if (reached === null) return
      after = reached
      if (rows.length > 0) size = nextSize(rows)
    }
  }

  get #isLogged(): boolean {
    return this.noun.storage === 'log'
  }

  /** How the moment is read now: while nothing it depends on has changed it is the present, which is faster to read. */
  #way(): Way {
    const filter = this.#filter
    if (this.#changedSeq() <= this.seq) return { filter, asOf: null }
    if (this.#words.length === 0) return { filter, asOf: this.seq }
    // The index knows the words of the present. Events stay as they are; those of an entity are looked at here.
    if (this.#isLogged) return { filter, asOf: null, test: ({ ordinal }) => ordinal <= this.seq }
    return { filter: withoutTexts(filter), asOf: this.seq, test: (entity) => this.#hasWords(entity) }
  }

  #hasWords(entity: Stored): boolean {
    const { fields } = this.noun
    const all = Object.entries(JSON.parse(entity.data) as JsonObject)
    const texts = all.filter(([name]) => isText(Object.hasOwn(fields, name) ? fields[name] : undefined))
    return matchWords(this.#words, Object.fromEntries(texts))
  }

  /** Equal for snapshots of the same content: what changed or was erased last, what is asked and by whom. */
  fingerprint(...how: readonly unknown[]): string {
    const { seal } = this.#engine.ports
    const narrow = rowFilterOf(this.#engine, this.#grant, this.noun.name)
    // The Event collection is another one for every grant.
    const view = this.#isLogged ? viewKey(this.#grant) : null
    const last = Math.min(this.#changedSeq(), this.seq)
    const erased = lastSeqOf(this.#engine.sql, 'Erasure')
    const facts = [this.noun.name, last, erased, this.#filter, narrow, view, this.noun.notation, how]
    const digest = seal.sha256(JSON.stringify(facts))
    return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  #changedSeq(): number {
    if (this.#isLogged) return this.#engine.head.seq
    return Math.max(...this.#types.map((type) => lastSeqOf(this.#engine.sql, type)))
  }
}

function nextSize(page: readonly Stored[]): number {
  const length = page.reduce((sum, { data }) => sum + data.length, 0)
  return Math.max(1, Math.min(Math.floor((PAGE_LENGTH * page.length) / length), page.length * 8, MOST_ROWS))
}

/** The words that a filter searches for: `$text` is at its top or inside `$and`. */
function wordsIn(filter: Filter): readonly string[] {
  if (filter.op === 'text') return filter.words
  return filter.op === 'and' ? filter.of.flatMap(wordsIn) : []
}

function withoutTexts(filter: Filter): Filter {
  if (filter.op === 'text') return EVERYTHING
  return filter.op === 'and' ? { ...filter, of: filter.of.map(withoutTexts) } : filter
}
