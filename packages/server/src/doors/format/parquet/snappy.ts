const TABLE_BITS = 14
const FARTHEST = 65_535
/** Closer to the end than this, no match is looked for. */
const MARGIN = 15
const LONGEST_COPY = 64
const SHIFT = 32 - TABLE_BITS
const SHORT = 64

/** Where four bytes with a hash were seen last, and the output: one of each for all calls. */
const table = new Int32Array(1 << TABLE_BITS)
let output = new Uint8Array(65_536)

/**
 * Compresses bytes in the format of Snappy. Written into one piece of memory: pages of texts have a literal of a few bytes per
 * row, and an object for each costs more than the search for matches.
 */
export function snappy(input: Uint8Array): Uint8Array {
  const { length } = input
  const most = 32 + length + Math.floor(length / 6)
  if (output.length < most) output = new Uint8Array(most)
  const bytes = new DataView(input.buffer, input.byteOffset, length)
  const limit = length - MARGIN
  let to = putLength(length)
  let literal = 0
  let skip = 32
  table.fill(0)
  for (let at = 1; at <= limit; ) {
    const word = bytes.getInt32(at, true)
    const slot = slotOf(word)
    const before = table[slot]!
    table[slot] = at
    if (at - before > FARTHEST || bytes.getInt32(before, true) !== word) {
      // The longer nothing repeats, the fewer places are looked at.
      at += skip++ >>> 5
      continue
    }
    const offset = at - before
    let end = at + 4
    while (end < length && input[end] === input[end - offset]) end++
    if (literal < at) to = putLiteral(input, literal, at, to)
    to = putCopy(offset, end - at, to)
    at = end
    literal = end
    skip = 32
    if (at <= limit) table[slotOf(bytes.getInt32(at - 1, true))] = at - 1
  }
  if (literal < length) to = putLiteral(input, literal, length, to)
  return output.slice(0, to)
}

function slotOf(word: number): number {
  return Math.imul(word, 0x1e35a7bd) >>> SHIFT
}

/** The length of the input, seven bits at a time. Returns where the output continues, as all of these do. */
function putLength(length: number): number {
  let to = 0
  for (let rest = length; ; rest >>>= 7) {
    output[to++] = rest < 128 ? rest : (rest & 127) | 128
    if (rest < 128) return to
  }
}

function putLiteral(input: Uint8Array, from: number, end: number, start: number): number {
  let to = start
  const last = end - from - 1
  if (last < 60) output[to++] = last << 2
  else {
    const size = last < 0x100 ? 1 : last < 0x10000 ? 2 : last < 0x1000000 ? 3 : 4
    output[to++] = (59 + size) << 2
    for (let i = 0; i < size; i++) output[to++] = last >>> (8 * i)
  }
  if (last < SHORT) for (let at = from; at < end; at++) output[to++] = input[at]!
  else {
    output.set(input.subarray(from, end), to)
    to += end - from
  }
  return to
}

function putCopy(offset: number, length: number, start: number): number {
  let to = start
  let left = length
  while (left > LONGEST_COPY) {
    // What is left for the last one is never below four bytes.
    const part = left >= LONGEST_COPY + 4 ? LONGEST_COPY : LONGEST_COPY - 4
    to = putFarCopy(offset, part, to)
    left -= part
  }
  if (left >= 12 || offset >= 2_048) return putFarCopy(offset, left, to)
  output[to++] = 1 | ((left - 4) << 2) | ((offset >>> 8) << 5)
  output[to++] = offset
  return to
}

function putFarCopy(offset: number, length: number, start: number): number {
  output[start] = 2 | ((length - 1) << 2)
  output[start + 1] = offset
  output[start + 2] = offset >>> 8
  return start + 3
}
