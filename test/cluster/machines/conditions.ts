import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs'

const NANOSECONDS = 1_000_000n

/** The clock and the disk of one machine, which the preloaded library reads. */
export class Conditions {
  readonly path: string
  #shift = 0
  #delay = 0

  constructor(path: string) {
    this.path = path
    writeFileSync(path, Buffer.alloc(16), { mode: 0o644 })
  }

  /** Moves the time of day by so many milliseconds, for all programs of the machine at once. */
  shiftClock(milliseconds: number): void {
    this.#shift = milliseconds
    this.#write()
  }

  /** Makes each fsync of the machine last so many milliseconds longer. */
  slowDisk(milliseconds: number): void {
    this.#delay = milliseconds
    this.#write()
  }

  reset(): void {
    this.#shift = 0
    this.#delay = 0
    this.#write()
  }

  /** In place: the programs have the file mapped. */
  #write(): void {
    const bytes = Buffer.alloc(16)
    bytes.writeBigInt64LE(BigInt(Math.round(this.#shift)) * NANOSECONDS, 0)
    bytes.writeBigInt64LE(BigInt(Math.round(this.#delay)) * 1_000n, 8)
    const file = openSync(this.path, 'r+')
    writeSync(file, bytes, 0, 16, 0)
    closeSync(file)
  }
}
