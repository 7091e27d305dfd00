import { createReadStream, openAsBlob } from 'node:fs'
import { access, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Problem } from '@tildebase/client'
import { type FileValue, isFileValue, type JsonObject } from '@tildebase/nouns'
import { saveTo } from '../files.ts'
import type { Link } from '../link/link.ts'
import type { Output } from '../output/output.ts'
import { fileFields } from './entity-files.ts'
import { describeType } from './type.ts'

/** The folder inside an export with the bytes of files, each under its hash. */
const FILES = 'files'
const ROWS = '.ndjson'

/** The file with the rows of a type. */
export function rowsPath(folder: string, type: string): string {
  return join(folder, `${type}${ROWS}`)
}

/** The types that a folder has rows of. */
export async function typesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  return names
    .filter((name) => name.endsWith(ROWS))
    .map((name) => name.slice(0, -ROWS.length))
    .sort()
}

/** Saves the bytes that the rows of a type name, as they were at the moment of the rows. Returns how many were new. */
export async function saveFiles(
  link: Link,
  folder: string,
  type: string,
  asOf: string,
  out: Output,
): Promise<{ readonly files: number; readonly bytes: number }> {
  await mkdir(join(folder, FILES), { recursive: true })
  let files = 0
  let bytes = 0
  for await (const { id, field, index, value } of filesIn(link, folder, type)) {
    const path = contentPath(folder, value)
    if (await isThere(path)) continue
    const response = await link.$[type]!.download(id, field, { asOf, index })
    if (response.headers.get('etag') !== `"${value.hash}"`)
      throw new Problem('conflict', `${field} of ${id} is not the file that was exported. Export again.`)
    bytes += await saveTo(path, response, out)
    files++
  }
  return { files, bytes }
}

/** Sends the bytes that the rows of a type name, so that an import can name them. */
export async function sendFilesOf(link: Link, folder: string, type: string): Promise<number> {
  const sent = new Set<string>()
  for await (const { value } of filesIn(link, folder, type)) {
    const path = contentPath(folder, value)
    const key = `${value.hash} ${value.type}`
    if (sent.has(key) || !(await isThere(path))) continue
    const { hash } = await link.$.upload(await openAsBlob(path, { type: value.type }), { name: value.name })
    if (hash !== value.hash) throw new Problem('damaged', `${path} has the hash ${hash}. The export is damaged.`)
    sent.add(key)
  }
  return sent.size
}

interface FoundFile {
  readonly id: string
  readonly field: string
  /** The place in a list. */
  readonly index: number | undefined
  readonly value: FileValue
}

/** The files in the rows of a type. */
async function* filesIn(link: Link, folder: string, type: string): AsyncGenerator<FoundFile> {
  const names = fileFields(await describeType(link, type))
  const lines = createInterface({
    input: createReadStream(rowsPath(folder, type)),
    crlfDelay: Number.POSITIVE_INFINITY,
  })
  for await (const line of lines) {
    if (names.length === 0 || !line.includes('"sha256:')) continue
    const row = JSON.parse(line) as JsonObject
    for (const field of names) {
      const given = row[field]
      const values: readonly unknown[] = Array.isArray(given) ? given : [given]
      for (const [index, value] of values.entries())
        if (isFileValue(value))
          yield { id: String(row.$id), field, index: Array.isArray(given) ? index : undefined, value }
    }
  }
}

function contentPath(folder: string, { hash }: FileValue): string {
  return join(folder, FILES, hash.slice('sha256:'.length))
}

function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
