import { createReadStream, fstatSync, type Stats } from 'node:fs'
import { open, readFile, realpath, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import type { Output } from './output/output.ts'
import { progressBar } from './output/progress.ts'
import { UsageError } from './parse/usage-error.ts'

/** A file, or standard input as `-`, as a stream that reports how much was read. */
export async function streamFrom(
  path: string,
  read: (bytes: number) => void = () => {},
): Promise<{ stream: ReadableStream<Uint8Array>; size: number | null }> {
  const file = path === '-' ? null : await stat(path)
  if (file?.isDirectory()) throw new UsageError(folderInstead(path))
  // The size of a pipe is not known.
  const size = file?.isFile() ? file.size : null
  const source = path === '-' ? process.stdin : createReadStream(path, { highWaterMark: 262_144 })
  let total = 0
  const counted = async function* () {
    for await (const chunk of source) {
      total += chunk.length
      read(total)
      yield chunk as Uint8Array
    }
  }
  return { stream: Readable.toWeb(Readable.from(counted(), { objectMode: false })) as ReadableStream<Uint8Array>, size }
}

/** The text of a file. */
export async function readText(path: string): Promise<string> {
  return readFile(path, 'utf8').catch((reason: NodeJS.ErrnoException) => {
    if (reason.code === 'EISDIR') throw new UsageError(folderInstead(path))
    throw reason
  })
}

/** Refuses a path that `saveTo` cannot write to, before anything is asked for. */
export async function refuseFolder(path: string): Promise<void> {
  const there = path === '-' ? null : await stat(path).catch(() => null)
  if (there?.isDirectory()) throw new UsageError(folderInstead(path))
}

/**
 * Writes an answer to a file, or to standard output as `-`. A file appears only when it is complete. A device or a pipe gets
 * the bytes as they arrive: a file in its place would not reach the reader.
 */
export async function saveTo(path: string, response: Response, out: Output): Promise<number> {
  await refuseFolder(path)
  const body = Readable.fromWeb(response.body as never)
  let bytes = 0
  const there = await stat(path).catch(() => null)
  if (path === '-' || isStandardOutput(there)) {
    for await (const chunk of body) {
      bytes += chunk.length
      await out.bytes(chunk)
    }
    return bytes
  }
  const isFile = there?.isFile() ?? true
  // A link stays one: its target is replaced.
  const target = isFile ? await realpath(path).catch(() => path) : path
  const part = isFile ? `${target}.part` : target
  const file = await open(part, 'w', 0o600).catch((reason: NodeJS.ErrnoException) => {
    if (reason.code !== 'ENOENT' && reason.code !== 'ENOTDIR') throw reason
    throw new UsageError(`The folder ${dirname(path)} for ${basename(path)} does not exist.`)
  })
  const size = response.headers.get('content-length')
  const bar = progressBar(process.stderr, size === null ? null : Number(size))
  try {
    for await (const chunk of body) {
      bytes += chunk.length
      bar.at(bytes)
      await file.writeFile(chunk)
    }
    await file.close()
    if (isFile) await rename(part, target)
    return bytes
  } catch (reason) {
    await file.close().catch(() => {})
    if (isFile) await rm(part, { force: true })
    throw reason
  } finally {
    bar.end()
  }
}

/** Whether a path such as /dev/stdout leads there, which may be a socket that cannot be opened. */
function isStandardOutput(there: Stats | null): boolean {
  const own = fstatSync(process.stdout.fd)
  return there?.dev === own.dev && there.ino === own.ino
}

function folderInstead(path: string): string {
  return `${path} is a folder. Name a file.`
}
