import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { LogPages } from './wal.ts'

/** Every size of pages is a multiple of it. */
export const LEAST_PAGE = 512

/** Pages are read into the same memory, many at once. A multiple of every size of pages. */
const chunk = Buffer.alloc(256 * 1024)

/**
 * The checksums of all pages of a file, and one of them together. A page that changes always changes that, and the other
 * pages need not be read for it.
 */
export class PageSums {
  readonly pageSize: number
  #crcs: Uint32Array
  #pages = 0
  #sum = 0

  constructor(pageSize: number, crcs: Uint32Array = new Uint32Array()) {
    this.pageSize = pageSize
    this.#crcs = new Uint32Array(crcs.length)
    for (const [i, crc] of crcs.entries()) this.set(i + 1, crc)
  }

  /** The checksums of the pages, in their order. */
  get crcs(): Uint32Array {
    return this.#crcs.subarray(0, this.#pages)
  }

  /** How many pages there are. */
  get pages(): number {
    return this.#pages
  }

  /** The checksum of all pages. */
  get sum(): number {
    return this.#sum
  }

  /** Sets the checksum of a page. The first page has the number 1. */
  set(page: number, crc: number): void {
    if (page > this.#crcs.length) this.#grow(page)
    this.#sum = (this.#sum - this.#share(page) + shareOf(page, crc)) >>> 0
    this.#crcs[page - 1] = crc
    this.#pages = Math.max(this.#pages, page)
  }

  /** The checksum of the pages up to a number, without those that a log holds. */
  restOf(upTo: number, { crcs }: LogPages): number {
    let rest = this.#sum
    for (const page of crcs.keys()) rest = (rest - this.#share(page)) >>> 0
    for (let page = upTo + 1; page <= this.#pages; page++) if (!crcs.has(page)) rest = (rest - this.#share(page)) >>> 0
    return rest
  }

  /** All of a log was copied into the file. */
  copied({ crcs, pages }: LogPages): void {
    const before = this.#pages
    for (let page = pages + 1; page <= before; page++) this.set(page, 0)
    this.#pages = Math.min(before, pages)
    // SQLite does not write pages that were freed in the commit in which they were new.
    const hole = pages > before ? crc32(Buffer.alloc(this.pageSize)) : 0
    for (let page = before + 1; page <= pages; page++) this.set(page, hole)
    for (const [page, crc] of crcs) if (page <= pages) this.set(page, crc)
  }

  /** The same checksums, for changes that may not come to pass. */
  copy(): PageSums {
    const copy = new PageSums(this.pageSize)
    copy.#crcs = this.#crcs.slice(0, this.#pages)
    copy.#pages = this.#pages
    copy.#sum = this.#sum
    return copy
  }

  #share(page: number): number {
    return page <= this.#pages ? shareOf(page, this.#crcs[page - 1]!) : 0
  }

  #grow(pages: number): void {
    const larger = new Uint32Array(Math.max(pages, Math.ceil(this.#crcs.length * 1.25)))
    larger.set(this.#crcs)
    this.#crcs = larger
  }
}

/** What a page adds to the checksum of all: an odd factor loses no bit of it, and differs from page to page. */
function shareOf(page: number, crc: number): number {
  return Math.imul(crc, 2 * page + 1) >>> 0
}

/** Reads the first pages of a file, some at each step. */
export function* readPages(file: number, pages: number, pageSize: number): Generator<void, PageSums> {
  const sums = new PageSums(pageSize)
  const length = pages * pageSize
  for (let at = 0; at < length; at += chunk.length) {
    const count = readSync(file, chunk, 0, Math.min(chunk.length, length - at), at)
    for (let start = 0; start < count; start += pageSize)
      sums.set((at + start) / pageSize + 1, crc32(chunk.subarray(start, start + pageSize)))
    if (at + count < length) yield
  }
  return sums
}
