import { createReadStream, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/** A folder for files on their way: copies, uploads, tenants that are being made. */
export class Scratch {
  readonly #folder: string
  #last = 0

  /** Empties the folder, unless another process still works there. */
  constructor(folder: string, isShared: boolean) {
    if (!isShared) rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
  }

  /** A path that is not in use. */
  pathFor(slug: string): string {
    return join(this.#folder, `${slug}.${process.pid}.${++this.#last}.db`)
  }
}

/** Removes a database and what SQLite keeps next to it. */
export function removeDatabase(path: string): void {
  for (const suffix of ['', '-wal', '-shm']) rmSync(`${path}${suffix}`, { force: true })
}

/** The content of a file that is deleted once it has been read. */
export async function* readOnce(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(path)
  } finally {
    rmSync(path, { force: true })
  }
}
