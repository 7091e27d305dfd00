import type { Json } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
// biome-ignore lint/style/noRestrictedImports: the package exports this file; columns are written one at a time with it.
import { writeColumn } from 'hyparquet-writer/src/column.js'
import { type Column, columnsFor, schemaOf } from './parquet-columns.ts'
import type { Pieces, Writing } from './write.ts'

/** A group of rows ends after so many rows, or so many characters of data: it is held in memory. */
const GROUP_ROWS = 20_000
const GROUP_CHARACTERS = 12 * 1_048_576
const PAGE_SIZE = 1_048_576

/** Parquet: typed columns, and undeclared fields as one JSON column. The same entities give the same bytes. */
export function* writeParquet(writing: Writing): Pieces {
  const columns = columnsFor(writing.noun, writing.fields)
  const output = new Output()
  const schema = schemaOf(columns)
  const writer = new ParquetWriter({ writer: output, schema })
  let group = new Group(columns)
  for (const page of writing.pages()) {
    for (const entity of page) {
      group.add(entity)
      if (group.rows < GROUP_ROWS && group.characters < GROUP_CHARACTERS) continue
      yield* group.write(writer, output)
      group = new Group(columns)
    }
    yield null
  }
  if (group.rows > 0) yield* group.write(writer, output)
  writer.finish()
  yield output.take()
}

/** Bytes that are handed on as soon as they stand. */
class Output extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice()
    this.index = 0
    return bytes
  }
}

/** Rows that are written together, column by column. */
class Group {
  rows = 0
  characters = 0
  readonly #columns: readonly Column[]
  readonly #values: unknown[][]

  constructor(columns: readonly Column[]) {
    this.#columns = columns
    this.#values = columns.map(() => [])
  }

  add(entity: Stored): void {
    const rest = JSON.parse(entity.data) as Record<string, Json>
    this.rows++
    this.characters += entity.data.length
    // The last column takes what is left, so each takes its value out.
    for (let i = 0; i < this.#columns.length; i++) this.#values[i]!.push(this.#columns[i]!.take(entity, rest))
  }

  /** Writes the group. ParquetWriter would do it at one go, which keeps everybody else waiting for too long. */
  *write(writer: ParquetWriter, output: Output): Pieces {
    const chunks = []
    const start = output.offset
    for (const [i, column] of this.#columns.entries()) {
      const written = columnOf(writer, output, column, this.#values[i]!)
      this.#values[i] = []
      chunks.push(written.chunk)
      writer.pendingIndexes.push(written)
      yield output.take()
      yield null
    }
    const num_rows = BigInt(this.rows)
    writer.num_rows += num_rows
    writer.row_groups.push({ columns: chunks, total_byte_size: BigInt(output.offset - start), num_rows })
  }
}

function columnOf(writer: ParquetWriter, output: Output, column: Column, values: unknown[]) {
  const { element } = column
  const optional = element.repetition_type === 'OPTIONAL'
  return writeColumn({
    writer: output,
    column: {
      columnName: element.name,
      element,
      schemaPath: [writer.schema[0]!, element],
      codec: writer.codec,
      compressors: writer.compressors,
      stats: isOrdered(column, values),
      pageSize: PAGE_SIZE,
      columnIndex: false,
      offsetIndex: true,
    },
    pageData: {
      values,
      definitionLevels: optional ? values.map((value) => (value === undefined ? 0 : 1)) : [],
      repetitionLevels: [],
      maxDefinitionLevel: optional ? 1 : 0,
    },
  })
}

/** Whether the writer's order of values is that of readers, who skip groups by their least and greatest value. */
function isOrdered({ element }: Column, values: readonly unknown[]): boolean {
  if (element.converted_type === 'JSON') return false
  // The writer compares texts by their UTF-16 units, readers by their bytes: beyond U+FFFF the two differ.
  return element.converted_type !== 'UTF8' || !values.some((value) => ASTRAL.test(value as string))
}

const ASTRAL = /[\ud800-\udfff]/
