import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Mark } from '../protocol/replicated-log.ts'

/** The newest mark of the database that this node knows, in a file that outlives it. */
export class MarkFile {
  readonly path: string
  #kept = ''

  constructor(path: string) {
    this.path = path
  }

  /** The mark, or null when there is none. */
  read(): Mark | null {
    try {
      const { timeline, position } = JSON.parse(readFileSync(this.path, 'utf8')) as Partial<Mark>
      return Number.isSafeInteger(timeline) && Number.isSafeInteger(position)
        ? { timeline: timeline!, position: position! }
        : null
    } catch {
      return null
    }
  }

  /** Not synced: after a power cut an earlier mark still finds nearly all that is missing. */
  write({ timeline, position }: Mark): void {
    const text = `${JSON.stringify({ timeline, position })}\n`
    if (text === this.#kept) return
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    writeFileSync(`${this.path}.new`, text, { mode: 0o600 })
    renameSync(`${this.path}.new`, this.path)
    this.#kept = text
  }
}
