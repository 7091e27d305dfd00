import { ByteWriter } from 'hyparquet-writer'
// biome-ignore-start lint/style/noRestrictedImports: the package exports these files; pages are made of what is in them.
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
// biome-ignore-end lint/style/noRestrictedImports: until here.
import { snappy } from './snappy.ts'

/** How the values of a page are written: one by one, as bits, or as places in a dictionary. */
export type Encoding = 'PLAIN' | 'RLE' | 'RLE_DICTIONARY'

export interface Page {
  readonly encoding: Encoding
  readonly rows: number
  /** How many of the rows have a value. */
  readonly count: number
  /** For each row 1 if it has a value, else 0; null where all have. Of lists: for each entry how far it is there. */
  readonly levels: Uint8Array | null
  /** How many bits a level has, if more than one. */
  readonly levelBits?: number
  /** Of lists: for each entry 1 if it continues with the list before, else 0. */
  readonly repeats?: Uint8Array
  readonly values: Uint8Array
}

/** The pages of a chunk, compressed. */
export class Pages {
  readonly #output = new ByteWriter()
  /** How many bytes they would have uncompressed. */
  size = 0
  /** Where the first one begins: after the dictionary. */
  start = 0

  get bytes(): Uint8Array {
    return this.#output.getBytes()
  }

  addDictionary(values: Uint8Array, count: number): void {
    this.#add(NOTHING, values, {
      type: 'DICTIONARY_PAGE',
      dictionary_page_header: { num_values: count, encoding: 'PLAIN' },
    })
    this.start = this.#output.offset
  }

  add({ encoding, rows, count, levels, levelBits = 1, repeats, values }: Page): void {
    const present = levels ? packed(levels, levelBits) : NOTHING
    const repeated = repeats ? packed(repeats, 1) : NOTHING
    const entries = repeats?.length ?? rows
    this.#add(joined(repeated, present), values, {
      type: 'DATA_PAGE_V2',
      data_page_header_v2: {
        num_values: entries,
        num_nulls: entries - count,
        num_rows: rows,
        encoding,
        definition_levels_byte_length: present.length,
        repetition_levels_byte_length: repeated.length,
        is_compressed: true,
      },
    })
  }

  #add(levels: Uint8Array, values: Uint8Array, header: Header): void {
    const start = this.#output.offset
    const compressed = snappy(values)
    writePageHeader(this.#output, {
      ...header,
      uncompressed_page_size: levels.length + values.length,
      compressed_page_size: levels.length + compressed.length,
    })
    this.#output.appendBytes(levels)
    this.#output.appendBytes(compressed)
    this.size += this.#output.offset - start + values.length - compressed.length
  }
}

/** The values of a page of booleans, after their length in bytes. */
export function bitsOf(bits: Uint32Array): Uint8Array {
  const output = new ByteWriter()
  const bytes = packed(bits, 1)
  output.appendUint32(bytes.length)
  output.appendBytes(bytes)
  return output.getBytes()
}

/** The values of a page of dictionary indexes, after their width in bits. */
export function placesOf(places: Uint32Array, size: number): Uint8Array {
  const output = new ByteWriter()
  const width = 32 - Math.clz32(size - 1)
  output.appendUint8(width)
  output.appendBytes(packed(places, width))
  return output.getBytes()
}

/** Small numbers in so many bits each, and the same one many times over as one. */
function packed(numbers: Uint8Array | Uint32Array, bits: number): Uint8Array {
  const output = new ByteWriter()
  writeRleBitPackedHybrid(output, numbers, bits)
  return output.getBytes()
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  if (a.length === 0) return b
  const bytes = new Uint8Array(a.length + b.length)
  bytes.set(a)
  bytes.set(b, a.length)
  return bytes
}

type Header = Omit<Parameters<typeof writePageHeader>[1], 'uncompressed_page_size' | 'compressed_page_size'>

const NOTHING = new Uint8Array()
