import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { HttpResponse } from '../doors/http.ts'

/** What is remembered of the last read of a tenant's log. */
interface Read {
  readonly after: number
  readonly isFailed: boolean
}

const MOST_TENANTS = 10_000

/**
 * Which reads of logs the operator's log records. A backup that follows a tenant reads its log every second: of such a
 * series the first read is recorded, and when it begins to fail.
 */
export class LogReads {
  readonly #last = new BoundedMap<string, Read>(MOST_TENANTS)

  /** Runs a read, and records it unless it continues the one before. */
  async during(
    slug: string,
    after: number,
    work: () => Promise<HttpResponse>,
    record: (facts: object) => unknown,
  ): Promise<HttpResponse> {
    const done = async (isFailed: boolean) => {
      const isNew = this.#isNew(slug, { after, isFailed })
      if (isNew) await record({ form: 'log', ...(isFailed && { failed: true }) })
    }
    try {
      const response = await work()
      await done(response.status >= 400)
      return response
    } catch (reason) {
      await done(true)
      throw reason
    }
  }

  #isNew(slug: string, read: Read): boolean {
    const last = this.#last.get(slug)
    this.#last.set(slug, read)
    // A read from an earlier event on is not part of the series: it returns what others have read before.
    const continues = last !== undefined && read.after > 0 && read.after >= last.after
    return read.isFailed ? !last?.isFailed : !continues || last.isFailed
  }
}
