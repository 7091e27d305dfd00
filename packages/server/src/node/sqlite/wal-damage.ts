import { closeSync, existsSync, openSync, readSync } from 'node:fs'

const HEADER_BYTES = 32
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

/**
 * Whether a bit of a write-ahead log is not as it was written. SQLite takes the first frame whose checksum is wrong for
 * the end of the log, because lost power can leave half of a commit there: with a flipped bit it forgets all commits
 * from that place on. Half of a commit is not one bit away from the whole: that is the difference.
 */
export function hasFlippedBit(path: string): boolean {
  if (!existsSync(path)) return false
  const file = openSync(path, 'r')
  try {
    return isFlipped(file)
  } finally {
    closeSync(file)
  }
}

function isFlipped(file: number): boolean {
  const header = Buffer.alloc(HEADER_BYTES)
  if (readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false
  if (!isHeader(header)) return isFlippedHeader(header)
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8)
  const part = Buffer.alloc(Math.max(1, Math.floor(PART_BYTES / frameBytes)) * frameBytes)
  let before = sumsAt(header, SUMMED_HEADER)
  for (let at = HEADER_BYTES; ; at += part.length) {
    const length = readSync(file, part, 0, part.length, at)
    for (let start = 0; start + frameBytes <= length; start += frameBytes) {
      const frame = part.subarray(start, start + frameBytes)
      const sums = frameSums(header, frame, before)
      const isWhole = isSame(sums, sumsAt(frame, FRAME_HEADER_BYTES - 8)) && distance(salt(frame), saltOf(header)) === 0
      if (!isWhole) return isFlippedFrame(header, frame, sums)
      before = sums
    }
    if (length < part.length) return false
  }
}

function isHeader(header: Buffer): boolean {
  const pageSize = header.readUInt32BE(8)
  return (
    (header.readUInt32BE(0) & ~1) === MAGIC &&
    header.readUInt32BE(4) === VERSION &&
    pageSize >= PAGE_SIZES.least &&
    pageSize <= PAGE_SIZES.most &&
    isSame(add([0, 0], header.subarray(0, SUMMED_HEADER), hasBigWords(header)), sumsAt(header, SUMMED_HEADER))
  )
}

/** It is short: every bit is tried. */
function isFlippedHeader(header: Buffer): boolean {
  for (let bit = 0; bit < HEADER_BYTES * 8; bit++) {
    const other = Buffer.from(header)
    other[bit >> 3]! ^= 1 << (bit & 7)
    if (isHeader(other)) return true
  }
  return false
}

function isFlippedFrame(header: Buffer, frame: Buffer, sums: Sums): boolean {
  const written = sumsAt(frame, FRAME_HEADER_BYTES - 8)
  const fromSalt = distance(salt(frame), saltOf(header))
  if (fromSalt > 0) return fromSalt === 1 && isSame(sums, written)
  if (distance(sums, written) === 1) return true
  return isFlippedData(header, frame, sums, written)
}

/**
 * Whether one bit explains the difference of the checksums. They are sums modulo 2^32: a word that is greater by d adds
 * d times the weight of its place. The weights are found from the end, as each pair of words is added to what came before.
 */
function isFlippedData(header: Buffer, frame: Buffer, sums: Sums, written: Sums): boolean {
  const missing: Sums = [(written[0] - sums[0]) | 0, (written[1] - sums[1]) | 0]
  const places = [...words(SUMMED_FRAME, 0), ...words(frame.length - FRAME_HEADER_BYTES, FRAME_HEADER_BYTES)]
  const read = hasBigWords(header) ? frame.readUInt32BE.bind(frame) : frame.readUInt32LE.bind(frame)
  // What a first word and what a second word of a pair add to both sums.
  let first: Sums = [1, 1]
  let second: Sums = [0, 1]
  for (let i = places.length - 2; i >= 0; i -= 2) {
    if (isOneBit(read(places[i]!), first, missing) || isOneBit(read(places[i + 1]!), second, missing)) return true
    first = next(first)
    second = next(second)
  }
  return false
}

/** Whether the word with one other bit adds what is missing. */
function isOneBit(word: number, [a, b]: Sums, [missingA, missingB]: Sums): boolean {
  for (let bit = 0; bit < 32; bit++) {
    const more = (word >>> bit) & 1 ? -(1 << bit) : 1 << bit
    if (Math.imul(a, more) === missingA && Math.imul(b, more) === missingB) return true
  }
  return false
}

/** The sums of a change after one more pair of words. */
function next([a, b]: Sums): Sums {
  const sum = (a + b) | 0
  return [sum, (b + sum) | 0]
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

function salt(frame: Buffer): Sums {
  return sumsAt(frame, 8)
}

function saltOf(header: Buffer): Sums {
  return sumsAt(header, 16)
}

function sumsAt(bytes: Buffer, at: number): Sums {
  return [bytes.readInt32BE(at), bytes.readInt32BE(at + 4)]
}

function isSame([a, b]: Sums, [c, d]: Sums): boolean {
  return a === c && b === d
}

/** How many bits differ. */
function distance([a, b]: Sums, [c, d]: Sums): number {
  return ones(a ^ c) + ones(b ^ d)
}

function ones(word: number): number {
  let count = 0
  for (let left = word >>> 0; left !== 0; left = (left & (left - 1)) >>> 0) count++
  return count
}

/** The places of the words in a number of bytes. */
function words(bytes: number, from: number): number[] {
  return Array.from({ length: bytes / 4 }, (_, i) => from + i * 4)
}
