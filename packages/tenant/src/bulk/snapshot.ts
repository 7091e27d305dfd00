import { type Filter, type Noun, touches } from '@tildebase/nouns'
import { type Grant, rowsOf } from '../keys/grant.ts'
import { scan } from '../query/scan.ts'
import { readerOf } from '../read.ts'
import { lastSeqOf } from '../store/changes.ts'
import type { Stored } from '../store/entities.ts'
import type { Tenant } from '../tenant.ts'

/** A page has about so many characters of data: as many rows as that is, by those of the page before. */
const PAGE_LENGTH = 1_048_576
const FIRST_ROWS = 16
const MOST_ROWS = 1_000

/** The entities of a type that pass a filter, as they are at one moment, however long the reading takes. */
export class Snapshot {
  readonly noun: Noun
  readonly #tenant: Tenant
  readonly #grant: Grant
  readonly #filter: Filter
  /** The moment, as a seq. */
  readonly seq: number
  readonly #types: readonly string[]
  readonly #hasText: boolean

  constructor(tenant: Tenant, grant: Grant, noun: Noun, filter: Filter, asOf: number | null = null) {
    this.noun = noun
    this.#tenant = tenant
    this.#grant = grant
    this.#filter = filter
    this.seq = Math.min(asOf ?? tenant.head.seq, tenant.head.seq)
    const narrow = rowsOf(tenant, grant, noun.name)
    this.#types = [...new Set([noun.name, ...touches(filter), ...(narrow ? touches(narrow) : [])])]
    this.#hasText = asksText(filter)
  }

  /** The entities page by page, in the order of their creation. */
  *pages(): Generator<readonly Stored[]> {
    let after = 0
    for (let size = FIRST_ROWS; ; ) {
      // While nothing it depends on has changed, the present is the moment, and faster to read.
      const asOf = this.#hasText || this.#changedSeq() <= this.seq ? null : this.seq
      const question = { type: this.noun.name, filter: this.#filter, asOf }
      const page = scan(readerOf(this.#tenant, this.#grant), question, after, size)
      if (page.length > 0) yield page
      if (page.length < size) return
      after = page.at(-1)!.n
      size = nextSize(page)
    }
  }

  /** Equal for snapshots of the same content: what changed last among all it depends on, what is asked and by whom. */
  fingerprint(...how: readonly unknown[]): string {
    const { seal } = this.#tenant.ports
    const narrow = rowsOf(this.#tenant, this.#grant, this.noun.name)
    const scopes = this.noun.name === 'Event' ? this.#grant.scopes : null
    const last = Math.min(this.#changedSeq(), this.seq)
    const facts = [this.noun.name, last, this.#filter, narrow, scopes, this.noun.notation, how]
    const digest = seal.sha256(JSON.stringify(facts))
    return Array.from(digest.subarray(0, 16), (byte) => byte.toString(16).padStart(2, '0')).join('')
  }

  #changedSeq(): number {
    if (this.noun.name === 'Event') return this.#tenant.head.seq
    return Math.max(...this.#types.map((type) => lastSeqOf(this.#tenant.sql, type)))
  }
}

function nextSize(page: readonly Stored[]): number {
  const length = page.reduce((sum, { data }) => sum + data.length, 0)
  return Math.max(1, Math.min(Math.floor((PAGE_LENGTH * page.length) / length), page.length * 8, MOST_ROWS))
}

/** Words are searched in the present only. */
function asksText(filter: Filter): boolean {
  return filter.op === 'text' || (filter.op === 'and' && filter.of.some(asksText))
}
