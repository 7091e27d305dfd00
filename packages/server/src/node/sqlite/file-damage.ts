import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { Problem } from '@tildebase/nouns'
import { readWal, type Wal } from './wal.ts'

const MAGIC = 'SQLite format 3\0'
const HEADER_BYTES = 100

/**
 * Refuses a file that is not whole, before SQLite opens it: SQLite reads the rows that are left and says nothing.
 * Only headers are read. Pages that the file lacks must be in the write-ahead log next to it: a crash may have ended
 * the copying from there.
 */
export function refuseDamaged(path: string): void {
  const file = openSync(path, 'r')
  try {
    const damage = damageOf(file, readWal(`${path}-wal`))
    if (damage === null) return
    throw new Problem(
      'unavailable',
      `The file of this tenant is damaged: ${damage}. It was not changed. Restore it from a backup.`,
    )
  } finally {
    closeSync(file)
  }
}

function damageOf(file: number, wal: Wal | null): string | null {
  const length = fstatSync(file).size
  if (length === 0) return 'it is empty'
  const header = Buffer.alloc(HEADER_BYTES)
  const pageSize = readSync(file, header, 0, HEADER_BYTES, 0) === HEADER_BYTES ? pageSizeOf(header) : null
  if (pageSize === null) return 'it does not begin with the header of a SQLite database'
  const pages = wal?.pages ?? header.readUInt32BE(28)
  const whole = Math.floor(length / pageSize)
  for (let page = whole + 1; page <= pages; page++) {
    if (wal?.written.has(page)) continue
    return `it has ${length} bytes of ${pages * pageSize}`
  }
  return null
}

/** The size of a page, or null when this is not a header. */
function pageSizeOf(header: Buffer): number | null {
  if (header.toString('latin1', 0, MAGIC.length) !== MAGIC) return null
  const written = header.readUInt16BE(16)
  const size = written === 1 ? 65_536 : written
  // A database in use has one page or more. A power of two has no bit in common with the number before it.
  const isValid = size >= 512 && (size & (size - 1)) === 0 && header.readUInt32BE(28) > 0
  return isValid ? size : null
}
