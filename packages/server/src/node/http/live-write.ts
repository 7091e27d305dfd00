import type { ServerResponse } from 'node:http'
import type { Writable } from 'node:stream'

/** The chunk of HTTP/1.1 that each piece of bytes travels in. */
const chunks = new WeakMap<Uint8Array, Buffer>()

/**
 * Writes a piece of a live answer, and gives the stream to wait for when that is full; null when there is room.
 * Bytes that go to many readers are made a chunk once and then cost each of them one write to the socket.
 */
export function writeLive(response: ServerResponse, piece: string | Uint8Array): Writable | null {
  const { socket } = response
  if (typeof piece === 'string' || socket === null || !response.chunkedEncoding)
    return response.write(piece) ? null : response
  return socket.write(chunkOf(piece)) ? null : socket
}

function chunkOf(piece: Uint8Array): Buffer {
  const known = chunks.get(piece)
  if (known) return known
  const chunk = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n')])
  chunks.set(piece, chunk)
  return chunk
}
