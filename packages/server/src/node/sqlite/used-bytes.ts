import { open } from 'node:fs/promises'
import { readWal } from './checks/wal.ts'

/** The places of numbers in the header of a SQLite file. */
const HEADER = 40
const PAGE_SIZE = 16
const PAGE_COUNT = 28
const UNUSED_PAGES = 36

/**
 * The bytes of a SQLite file without its unused pages, and with those of its write-ahead log; null when there is no file.
 * The database is not opened. Pages that became unused since the last copy from the log still count.
 */
export async function usedBytes(path: string): Promise<number | null> {
  const file = await open(path).catch(() => null)
  if (file === null) return null
  try {
    const header = Buffer.alloc(HEADER)
    const { bytesRead } = await file.read(header, 0, HEADER, 0)
    if (bytesRead < HEADER) return null
    const size = header.readUInt16BE(PAGE_SIZE)
    const pages = readWal(`${path}-wal`)?.pages ?? header.readUInt32BE(PAGE_COUNT)
    // The two bytes cannot hold the largest size: 1 means that.
    return (pages - header.readUInt32BE(UNUSED_PAGES)) * (size === 1 ? 65_536 : size)
  } finally {
    await file.close()
  }
}
