import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'

/** What the committed part of a write-ahead log says about its database. */
export interface Wal {
  /** How many pages the database has. */
  readonly pages: number
  /** The pages that the log holds. */
  readonly written: ReadonlySet<number>
}

/** What copying a part of a write-ahead log changes in its database. */
export interface LogPages {
  /** The salt of the log: it has another one when it is started again. */
  readonly salt: Buffer
  /** How many frames are copied. */
  readonly frames: number
  /** How many pages the database has afterwards. */
  readonly pages: number
  /** The checksums of the pages that are in these frames. */
  readonly crcs: ReadonlyMap<number, number>
}

export const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The part of a header, and of the head of a frame, that its checksum covers. */
const SUMMED_HEADER = 24
const SUMMED_FRAME = 8
/** The first bytes of a log; the last bit is the byte order of its checksums. */
const MAGIC = 0x377f0682
const VERSION = 3_007_000
const PAGE_SIZES = { least: 512, most: 65_536 }
/** How much is read at once. */
const PART_BYTES = 1_048_576

/** The two sums of a checksum. */
type Sums = readonly [number, number]

/** Reads the frame headers of a write-ahead log; null when it holds no commit. */
export function readWal(path: string): Wal | null {
  if (!existsSync(path)) return null
  const file = openSync(path, 'r')
  try {
    return committed(file)
  } finally {
    closeSync(file)
  }
}

function committed(file: number): Wal | null {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null
  if ((header.readUInt32BE(0) & ~1) !== MAGIC) return null
  const pageSize = header.readUInt32BE(8)
  const frame = Buffer.alloc(FRAME_HEADER_BYTES)
  const written = new Set<number>()
  let open: number[] = []
  let pages = 0
  for (
    let at = HEADER_BYTES;
    readSync(file, frame, 0, frame.length, at) === frame.length;
    at += frame.length + pageSize
  ) {
    // Frames with another salt are of an earlier round of the log.
    if (frame.compare(header, 16, 24, 8, 16) !== 0) break
    open.push(frame.readUInt32BE(0))
    const size = frame.readUInt32BE(4)
    if (size === 0) continue
    pages = size
    for (const page of open) written.add(page)
    open = []
  }
  return pages === 0 ? null : { pages, written }
}

/**
 * Reads the first frames of a write-ahead log, which end with a commit; null when it has not so many. It begins at the end:
 * most pages of a log are older versions of others. Frames that are `known` are not read again.
 */
export function readLogPages(path: string, frames: number, known: LogPages | null = null): LogPages | null {
  const file = existsSync(path) ? openSync(path, 'r') : null
  if (file === null) return null
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    if (frames === 0 || readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return null
    const salt = saltOf(header)
    const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
    const before = known !== null && known.frames < frames && known.salt.equals(salt) ? known : null
    const begin = before?.frames ?? 0
    const most = Math.min(frames - begin, Math.max(1, Math.floor(PART_BYTES / frameBytes)))
    const part = Buffer.alloc(most * frameBytes)
    const crcs = new Map<number, number>()
    let pages = 0
    for (let end = frames; end > begin; end -= most) {
      const first = Math.max(begin, end - most)
      const length = (end - first) * frameBytes
      if (readSync(file, part, 0, length, HEADER_BYTES + first * frameBytes) < length) return null
      if (end === frames) pages = part.readUInt32BE(length - frameBytes + 4)
      for (let at = length - frameBytes; at >= 0; at -= frameBytes) {
        const page = part.readUInt32BE(at)
        if (!crcs.has(page)) crcs.set(page, crc32(part.subarray(at + FRAME_HEADER_BYTES, at + frameBytes)))
      }
    }
    for (const [page, crc] of before?.crcs ?? []) if (!crcs.has(page)) crcs.set(page, crc)
    return { salt, frames, pages, crcs }
  } finally {
    closeSync(file)
  }
}

/** The salt of a log; null when there is no log, or an empty one. */
export function logSalt(path: string): Buffer | null {
  const file = existsSync(path) ? openSync(path, 'r') : null
  if (file === null) return null
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    return readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES ? null : saltOf(header)
  } finally {
    closeSync(file)
  }
}

function saltOf(header: Buffer): Buffer {
  return header.subarray(16, 24)
}

/** Whether these bytes begin a log, as their checksum says. */
export function isHeader(header: Buffer): boolean {
  const pageSize = header.readUInt32BE(8)
  return (
    (header.readUInt32BE(0) & ~1) === MAGIC &&
    header.readUInt32BE(4) === VERSION &&
    pageSize >= PAGE_SIZES.least &&
    pageSize <= PAGE_SIZES.most &&
    isSame(add([0, 0], header.subarray(0, SUMMED_HEADER), hasBigWords(header)), sumsAt(header, SUMMED_HEADER))
  )
}

/** How many frames SQLite would read: those before the first one with another salt or another checksum. */
export function wholeFrames(file: number, header: Buffer): number {
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  const part = Buffer.alloc(Math.max(1, Math.floor(PART_BYTES / frameBytes)) * frameBytes)
  let before = sumsAt(header, SUMMED_HEADER)
  let count = 0
  for (let at = HEADER_BYTES; ; at += part.length) {
    const length = readSync(file, part, 0, part.length, at)
    for (let start = 0; start + frameBytes <= length; start += frameBytes) {
      const frame = part.subarray(start, start + frameBytes)
      before = frameSums(header, frame, before)
      if (frame.compare(header, 16, 24, 8, 16) !== 0 || !isSame(before, sumsAt(frame, FRAME_HEADER_BYTES - 8)))
        return count
      count++
    }
    if (length < part.length) return count
  }
}

function frameSums(header: Buffer, frame: Buffer, before: Sums): Sums {
  const isBig = hasBigWords(header)
  return add(add(before, frame.subarray(0, SUMMED_FRAME), isBig), frame.subarray(FRAME_HEADER_BYTES), isBig)
}

/** The checksum of SQLite's log: every word is in all sums after it. */
function add([a, b]: Sums, bytes: Buffer, isBig: boolean): Sums {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + view.getUint32(at, !isBig) + b) | 0
    b = (b + view.getUint32(at + 4, !isBig) + a) | 0
  }
  return [a, b]
}

function hasBigWords(header: Buffer): boolean {
  return (header.readUInt32BE(0) & 1) === 1
}

function sumsAt(bytes: Buffer, at: number): Sums {
  return [bytes.readInt32BE(at), bytes.readInt32BE(at + 4)]
}

function isSame([a, b]: Sums, [c, d]: Sums): boolean {
  return a === c && b === d
}
