import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { JsonObject } from '@tildebase/nouns'
import { BEGINNING, type Head } from '@tildebase/server/log'
import { type Place, textOf } from '../place.ts'
import { eventsIn, segmentName, segmentsOf } from '../segments.ts'
import { Archive, demandOwner, nextHead, openingOf, SECRETS } from './archive.ts'

/** A segment with more characters is full, and the next one begins. Until then it is written again with more in it. */
const FULL = 1_048_576
/** So many characters are gathered at most before they are stored. */
const MOST_GATHERED = 1_048_576

const packed = promisify(gzip)

/** The log of a tenant in a bucket. An object is stored as a whole, so the process can be killed at any moment. */
export class BucketArchive extends Archive {
  readonly #tenant: string
  /** The end of the log before the current segment. */
  #before: Head
  #lines: string[]
  #length: number
  #unsaved = 0

  /** Opens the backup of a tenant after its last event, or begins one. */
  static async open(place: Place, tenant: string): Promise<BucketArchive> {
    await demandOwner(place, tenant)
    const segments = await segmentsOf(place)
    const secrets = (await textOf(place, SECRETS)) ?? ''
    const last = segments.at(-1)
    if (last === undefined) return new BucketArchive(place, tenant, BEGINNING, BEGINNING, [], secrets)
    const lines: string[] = []
    let before = BEGINNING
    let head = BEGINNING
    for await (const kept of eventsIn(place, last)) {
      if (lines.length === 0) before = kept.before
      head = kept.head
      lines.push(kept.line)
    }
    return new BucketArchive(place, tenant, before, head, lines, secrets)
  }

  private constructor(place: Place, tenant: string, before: Head, head: Head, lines: string[], secrets: string) {
    super(place, head, secrets)
    this.#tenant = tenant
    this.#before = before
    this.#lines = lines
    this.#length = lines.reduce((sum, line) => sum + line.length, 0)
    this.#beginNext()
  }

  async add(line: string, event: JsonObject): Promise<void> {
    const head = nextHead(this.head, event, this.#tenant, this.place)
    if (head === null) return
    this.head = head
    this.#lines.push(line)
    this.#length += line.length
    this.#unsaved += line.length
    if (this.#unsaved > MOST_GATHERED) await this.save()
  }

  async save(): Promise<void> {
    if (this.#unsaved === 0) return
    const text = `${openingOf(this.#tenant, this.#before)}${this.#lines.join('\n')}\n`
    await this.place.put(`${segmentName(this.#before.seq + 1)}.gz`, [await packed(text)])
    this.#unsaved = 0
    this.#beginNext()
  }

  async close(): Promise<void> {}

  #beginNext(): void {
    if (this.#length <= FULL) return
    this.#before = this.head
    this.#lines = []
    this.#length = 0
  }
}
