import { createReadStream } from 'node:fs'
import { open, rename, rm, stat } from 'node:fs/promises'
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
  const size = path === '-' ? null : (await stat(path)).size
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

/** Writes an answer to a file, or to standard output as `-`. A file appears only when it is complete. */
export async function saveTo(path: string, response: Response, out: Output): Promise<number> {
  const body = Readable.fromWeb(response.body as never)
  let bytes = 0
  if (path === '-') {
    for await (const chunk of body) {
      bytes += chunk.length
      await out.bytes(chunk)
    }
    return bytes
  }
  const part = `${path}.part`
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
      await file.write(chunk)
    }
    await file.close()
    await rename(part, path)
    return bytes
  } catch (reason) {
    await file.close().catch(() => {})
    await rm(part, { force: true })
    throw reason
  } finally {
    bar.end()
  }
}
