import { Problem } from '@tildebase/nouns'

/** The memory of one upload to a bucket: smaller objects are sent at once, larger ones in parts of this size. */
const PART = 8_388_608

/** A part of an object. */
interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly isLast: boolean
}

/** The bytes in parts of equal size, but for the last one. There is always a last one. A part is valid until the next. */
export async function* partsOf(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Part> {
  let room: Uint8Array<ArrayBuffer> | null = null
  let length = 0
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; ) {
      // A full part is sent when more has come: the last one is known only then.
      if (length === PART) {
        yield { bytes: room!.subarray(0, PART), isLast: false }
        length = 0
      }
      const piece = chunk.subarray(at, at + PART - length)
      room = withRoom(room, length, length + piece.length)
      room.set(piece, length)
      length += piece.length
      at += piece.length
    }
  }
  yield { bytes: room?.subarray(0, length) ?? new Uint8Array(0), isLast: true }
}

/** The same bytes with room for more: small content takes little memory. */
function withRoom(room: Uint8Array<ArrayBuffer> | null, length: number, needed: number): Uint8Array<ArrayBuffer> {
  if (room !== null && room.length >= needed) return room
  const larger = new Uint8Array(Math.min(PART, Math.max(needed, 2 * length)))
  if (room !== null) larger.set(room.subarray(0, length))
  return larger
}

/** A store that fails is not the fault of the sender; the problem of a refused sender stays as it is. */
export function unavailable(reason: unknown): never {
  if (reason instanceof Problem) throw reason
  throw new Problem(
    'unavailable',
    `The store of files failed, so that nothing was written. ${(reason as Error).message}`,
  )
}
