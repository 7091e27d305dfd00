/**
 * Memory of bytes that came over a connection or from the disk, and that only their reader uses. An upload frees it once it is
 * written: V8 would wait for a collection of its whole heap, every few megabytes.
 */
const own = new WeakSet<ArrayBufferLike>()

/** Notes that these bytes have memory of their own, and only their reader uses them. */
export function markOwn(bytes: Uint8Array): void {
  if (bytes.byteLength === bytes.buffer.byteLength) own.add(bytes.buffer)
}

/** The memory of bytes that are given to another thread, if only their reader uses it; null otherwise. */
export function giveOwn({ buffer }: Uint8Array): ArrayBuffer | null {
  return own.delete(buffer) ? (buffer as ArrayBuffer) : null
}

/** Frees the memory of bytes that are not needed any more, if only their reader used it. */
export function freeOwn(bytes: Uint8Array): void {
  giveOwn(bytes)?.transfer(0)
}
