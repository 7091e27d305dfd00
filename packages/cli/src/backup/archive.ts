import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type JsonObject, Problem } from '@tildebase/nouns'
import { BEGINNING, FORM, type Head, headAfter } from '@tildebase/server/log'
import { eventsIn, type Kept, type Segment, segmentPath, segmentsOf, tenantOf } from './segments.ts'

/** A segment with more bytes is closed, and the next one begins. */
const MOST_BYTES = 16_777_216
/** The number of characters that are gathered before they are written. */
const MOST_GATHERED = 1_048_576
const PART = '.part'
const HALF_DONE = /^(?:\d{15}\.ndjson\.gz|secrets\.ndjson|checkpoint\.txt)\.part$/
const SEGMENT = /^\d{15}\.ndjson$/

/** The file with data that is not in events: hashes of keys and secrets of webhooks. */
export const SECRETS = 'secrets.ndjson'

/** The file with the last signed checkpoint. */
const CHECKPOINT = 'checkpoint.txt'

/** A folder with the log of a tenant. Events are appended; the process can be killed at any moment. */
export class Archive {
  readonly folder: string
  readonly #tenant: string
  /** The newest event in the folder. */
  head: Head
  #saved: Head
  #gathered: string[] = []
  #length = 0
  #file: FileHandle | null
  #size: number
  #secrets: string

  /** Opens or creates the folder of a tenant's backup, after its last complete event. */
  static async open(folder: string, tenant: string): Promise<Archive> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const owner = await tenantOf(folder)
    if (owner !== null && owner !== tenant) {
      throw new Problem('conflict', `${folder} holds a backup of ${owner}, not of ${tenant}. Use another folder.`)
    }
    await tidy(folder)
    const last = await lastSegment(folder)
    const secrets = await readFile(join(folder, SECRETS), 'utf8').catch(() => '')
    return new Archive(folder, tenant, last, secrets, last && !last.isClosed ? await open(last.path, 'a') : null)
  }

  private constructor(folder: string, tenant: string, last: Last | null, secrets: string, file: FileHandle | null) {
    this.folder = folder
    this.#tenant = tenant
    this.head = last?.kept.head ?? BEGINNING
    this.#saved = this.head
    this.#file = file
    this.#size = last?.kept.end ?? 0
    this.#secrets = secrets
  }

  /** Adds an event, which must follow the newest one. An event that is already stored must be the same. */
  async add(line: string, event: JsonObject): Promise<void> {
    const { seq, hash } = this.head
    if (event.seq === seq && event.hash === Buffer.from(hash).toString('hex')) return
    if (event.seq === seq) {
      throw new Problem(
        'conflict',
        `Event ${seq} of ${this.#tenant} is not the one in ${this.folder}: this is a different tenant of that name, or one ` +
          'that was restored to an earlier moment. Use a new folder.',
        { seq },
      )
    }
    this.head = headAfter(this.head, event)
    this.#gathered.push(line, '\n')
    this.#length += line.length
    if (this.#length > MOST_GATHERED) await this.save()
  }

  /** Writes the added events to the disk. */
  async save(): Promise<void> {
    if (this.#gathered.length === 0) return
    const isNew = this.#file === null
    if (isNew) this.#gathered.unshift(this.#opening())
    this.#file ??= await open(segmentPath(this.folder, this.#saved.seq + 1), 'ax', 0o600)
    const text = Buffer.from(this.#gathered.join(''))
    if ((await this.#file.stat()).size !== this.#size) {
      throw new Problem('conflict', `Another backup process writes to ${this.folder}. Stop it first.`)
    }
    await this.#file.appendFile(text)
    await this.#file.datasync()
    if (isNew) await syncFolder(this.folder)
    this.#gathered = []
    this.#length = 0
    this.#size += text.length
    if (this.#size > MOST_BYTES) await this.#closeSegment()
    this.#saved = this.head
  }

  /** Keeps what is stored next to the events. */
  async saveSecrets(lines: readonly string[]): Promise<void> {
    const text = lines.map((line) => `${line}\n`).join('')
    if (text === this.#secrets) return
    await this.#saveWhole(SECRETS, text)
    this.#secrets = text
  }

  /** Keeps the signed checkpoint of the log, which the events can be checked against. */
  saveCheckpoint(note: string): Promise<void> {
    return this.#saveWhole(CHECKPOINT, note)
  }

  async #saveWhole(name: string, text: string): Promise<void> {
    const path = join(this.folder, name)
    const part = await open(`${path}${PART}`, 'w', 0o600)
    await part.writeFile(text)
    await part.sync()
    await part.close()
    await rename(`${path}${PART}`, path)
    await syncFolder(this.folder)
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }

  /** The first line of a segment, which makes it the beginning of a portable log. */
  #opening(): string {
    const { seq, hash } = this.#saved
    const head = { tildebase: 'log', form: FORM, tenant: this.#tenant, after: seq }
    return `${JSON.stringify({ ...head, hash: Buffer.from(hash).toString('hex') })}\n`
  }

  async #closeSegment(): Promise<void> {
    await this.close()
    this.#size = 0
    const { path } = (await segmentsOf(this.folder)).at(-1)!
    const packed = `${path}.gz`
    const part = createWriteStream(`${packed}${PART}`, { mode: 0o600, flush: true })
    await pipeline(createReadStream(path), createGzip(), part)
    await rename(`${packed}${PART}`, packed)
    await syncFolder(this.folder)
    await rm(path)
  }
}

type Last = Segment & { readonly kept: Kept }

/** Removes unfinished files after a kill, and open copies of segments that were already closed. */
async function tidy(folder: string): Promise<void> {
  const names = await readdir(folder)
  const needless = names.filter((name) => HALF_DONE.test(name) || (SEGMENT.test(name) && names.includes(`${name}.gz`)))
  for (const name of needless) await rm(join(folder, name))
}

/** The newest segment with its last event; an incomplete line after it is removed. */
async function lastSegment(folder: string): Promise<Last | null> {
  for (const segment of (await segmentsOf(folder)).reverse()) {
    let kept: Kept | undefined
    for await (const one of eventsIn(segment)) kept = one
    if (kept) {
      if (!segment.isClosed) await truncate(segment.path, kept.end)
      return { ...segment, kept }
    }
    if (!segment.isClosed) await rm(segment.path)
  }
  return null
}

/** After a power failure a file exists only if its folder was synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  await handle.sync()
  await handle.close()
}
