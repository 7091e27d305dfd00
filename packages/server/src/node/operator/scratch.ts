import { createReadStream, mkdirSync, rmSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { held } from '../http/bodies.ts'
import { SUFFIXES } from '../sqlite/checks/wal-mark.ts'

/** The name of that folder, next to the tenants. */
export const SCRATCH = 'scratch'

/** A folder for files on their way: copies, uploads, tenants that are being made. */
export class Scratch {
  readonly #folder: string
  #last = 0

  /** Empties the folder. */
  constructor(folder: string) {
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    this.#folder = folder
  }

  /** A path that is not in use. */
  pathFor(slug: string): string {
    return join(this.#folder, `${slug}.${process.pid}.${++this.#last}.db`)
  }
}

/** Removes a database and what SQLite keeps next to it. Requests continue: for a large file it takes a while. */
export async function removeDatabase(path: string): Promise<void> {
  await Promise.all(SUFFIXES.map((suffix) => rm(`${path}${suffix}`, { force: true })))
}

/** The content of a file that is deleted once it has been read, or its reader has left. */
export function readOnce(path: string, read: (bytes: number) => void, over: () => void): AsyncIterable<Uint8Array> {
  const remove = () => {
    rmSync(path, { force: true })
    over()
  }
  return held(chunksOf(path, read), () => {}, remove) as AsyncIterable<Uint8Array>
}

async function* chunksOf(path: string, read: (bytes: number) => void): AsyncGenerator<Uint8Array> {
  for await (const chunk of createReadStream(path)) {
    yield chunk
    read(chunk.length)
  }
}
