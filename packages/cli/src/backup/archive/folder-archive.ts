import { createReadStream, createWriteStream } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { type JsonObject, Problem } from '@tildebase/nouns'
import { BEGINNING, type Head } from '@tildebase/server/log'
import { folderPlace, PART, syncFolder, textOf } from '../place.ts'
import { eventsIn, type Kept, type Segment, segmentName, segmentsOf } from '../segments.ts'
import { Archive, demandOwner, nextHead, openingOf, SECRETS } from './archive.ts'

/** A segment with more bytes is closed, and the next one begins. */
const MOST_BYTES = 16_777_216
/** The number of characters that are gathered before they are written. */
const MOST_GATHERED = 1_048_576
const HALF_DONE = /^(?:\d{15}\.ndjson\.gz|secrets\.ndjson|checkpoint\.txt)\.part$/
const SEGMENT = /^\d{15}\.ndjson$/

/** A folder with the log of a tenant. Events are appended; the process can be killed at any moment. */
export class FolderArchive extends Archive {
  readonly #folder: string
  readonly #tenant: string
  #saved: Head
  #gathered: string[] = []
  #length = 0
  #file: FileHandle | null
  #size: number

  /** Opens or creates the folder of a tenant's backup, after its last complete event. */
  static async open(folder: string, tenant: string): Promise<Archive> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await demandOwner(folderPlace(folder), tenant)
    await tidy(folder)
    const last = await lastSegment(folder)
    const secrets = (await textOf(folderPlace(folder), SECRETS)) ?? ''
    const file = last && !last.isClosed ? await open(join(folder, last.name), 'a') : null
    return new FolderArchive(folder, tenant, last, secrets, file)
  }

  private constructor(folder: string, tenant: string, last: Last | null, secrets: string, file: FileHandle | null) {
    super(folderPlace(folder), last?.kept.head ?? BEGINNING, secrets)
    this.#folder = folder
    this.#tenant = tenant
    this.#saved = this.head
    this.#file = file
    this.#size = last?.kept.end ?? 0
  }

  async add(line: string, event: JsonObject): Promise<void> {
    const head = nextHead(this.head, event, this.#tenant, this.place)
    if (head === null) return
    this.head = head
    this.#gathered.push(line, '\n')
    this.#length += line.length
    if (this.#length > MOST_GATHERED) await this.save()
  }

  async save(): Promise<void> {
    if (this.#gathered.length === 0) return
    const isNew = this.#file === null
    if (isNew) this.#gathered.unshift(openingOf(this.#tenant, this.#saved))
    this.#file ??= await open(join(this.#folder, segmentName(this.#saved.seq + 1)), 'ax', 0o600)
    const text = Buffer.from(this.#gathered.join(''))
    if ((await this.#file.stat()).size !== this.#size) {
      throw new Problem('conflict', `Another backup process writes to ${this.#folder}. Stop it first.`)
    }
    await this.#file.appendFile(text)
    await this.#file.datasync()
    if (isNew) await syncFolder(this.#folder)
    this.#gathered = []
    this.#length = 0
    this.#size += text.length
    if (this.#size > MOST_BYTES) await this.#closeSegment()
    this.#saved = this.head
  }

  async close(): Promise<void> {
    await this.#file?.close()
    this.#file = null
  }

  async #closeSegment(): Promise<void> {
    await this.close()
    this.#size = 0
    const path = join(this.#folder, (await segmentsOf(this.place)).at(-1)!.name)
    const packed = `${path}.gz`
    const part = createWriteStream(`${packed}${PART}`, { mode: 0o600, flush: true })
    await pipeline(createReadStream(path), createGzip(), part)
    await rename(`${packed}${PART}`, packed)
    await syncFolder(this.#folder)
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
  const place = folderPlace(folder)
  for (const segment of (await segmentsOf(place)).reverse()) {
    const path = join(folder, segment.name)
    let kept: Kept | undefined
    for await (const one of eventsIn(place, segment)) kept = one
    if (kept) {
      if (!segment.isClosed) await truncate(path, kept.end)
      return { ...segment, kept }
    }
    if (!segment.isClosed) await rm(path)
  }
  return null
}
