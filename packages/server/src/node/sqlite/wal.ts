import { closeSync, existsSync, openSync, readSync } from 'node:fs'

/** What the committed part of a write-ahead log says about its database. */
export interface Wal {
  /** How many pages the database has. */
  readonly pages: number
  /** The pages that the log holds. */
  readonly written: ReadonlySet<number>
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
/** The first bytes of a log; the last bit is the byte order of its checksums. */
const MAGIC = 0x377f0682

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
