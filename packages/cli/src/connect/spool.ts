import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Ask, PastRow } from '@tildebase/server/connect'

/** Rows that are sorted in memory at once. */
const RUN = 50_000

/**
 * A folder with the raw answers of a provider, so that an interrupted run continues where it was, and with the rows made
 * from them. A run that has ended leaves a mark; the next one asks for everything again.
 */
export class Spool {
  readonly #folder: string
  #answers = 0

  constructor(folder: string) {
    this.#folder = folder
    if (existsSync(this.#path('finished'))) this.#remove('answers', 'finished')
    this.#remove('rows')
    for (const name of ['answers', 'rows']) mkdirSync(this.#path(name), { recursive: true, mode: 0o700 })
  }

  /** The answers that were taken from the folder and not asked for again. */
  get answers(): number {
    return this.#answers
  }

  /** Asks only for what is not in the folder yet. */
  keeping(ask: Ask): Ask {
    return async (path) => {
      const file = this.#path('answers', `${createHash('sha256').update(path).digest('hex').slice(0, 32)}.json`)
      if (existsSync(file)) {
        this.#answers++
        return JSON.parse(readFileSync(file, 'utf8'))
      }
      const { body, headers } = await ask(path)
      const { link } = headers
      // Whole or not at all: a run may end at any moment.
      writeFileSync(`${file}.new`, JSON.stringify({ path, body, headers: link === undefined ? {} : { link } }), {
        mode: 0o600,
      })
      renameSync(`${file}.new`, file)
      return { body, headers }
    }
  }

  /** Rows in the order of time, whatever their number: runs of them are sorted in files and merged. */
  async *sorted(rows: AsyncIterable<PastRow>): AsyncGenerator<PastRow> {
    const files: string[] = []
    let run: PastRow[] = []
    const flush = () => {
      const file = this.#path('rows', `${files.length}.ndjson`)
      writeFileSync(
        file,
        run
          .toSorted(byTime)
          .map((row) => `${JSON.stringify(row)}\n`)
          .join(''),
        { mode: 0o600 },
      )
      files.push(file)
      run = []
    }
    for await (const row of rows) if (run.push(row) >= RUN) flush()
    if (files.length === 0) {
      yield* run.toSorted(byTime)
      return
    }
    flush()
    yield* merged(files.map(linesOf))
  }

  finish(): void {
    writeFileSync(this.#path('finished'), new Date().toISOString(), { mode: 0o600 })
    this.#remove('rows')
  }

  /** Removes what a spool writes, and nothing else: the folder may be one that a person uses. */
  #remove(...names: string[]): void {
    for (const name of names) rmSync(this.#path(name), { recursive: true, force: true })
  }

  #path(...names: string[]): string {
    return join(this.#folder, ...names)
  }
}

/** What exists before it changes, and references before what refers to them, keep the order in which they came. */
function byTime(a: PastRow, b: PastRow): number {
  return a.timestamp < b.timestamp ? -1 : a.timestamp > b.timestamp ? 1 : 0
}

async function* linesOf(file: string): AsyncGenerator<PastRow> {
  for await (const line of createInterface({ input: createReadStream(file) })) yield JSON.parse(line)
}

/** Several sorted sources as one. */
async function* merged(sources: readonly AsyncGenerator<PastRow>[]): AsyncGenerator<PastRow> {
  const heads = await Promise.all(sources.map((source) => source.next()))
  for (;;) {
    let first = -1
    for (const [i, { done, value }] of heads.entries()) {
      if (!done && (first === -1 || byTime(value, heads[first]!.value) < 0)) first = i
    }
    if (first === -1) return
    yield heads[first]!.value
    heads[first] = await sources[first]!.next()
  }
}
