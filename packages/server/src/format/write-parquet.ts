import type { Json } from '@tildebase/nouns'
import type { Stored } from '@tildebase/tenant'
import { ByteWriter, type ColumnSource, ParquetWriter } from 'hyparquet-writer'
import { type Column, columnsFor, schemaOf } from './parquet-columns.ts'
import type { Pieces, Writing } from './write.ts'

/** A group of rows ends after so many rows, or so many characters of data: it is held in memory. */
const GROUP_ROWS = 50_000
const GROUP_CHARACTERS = 16 * 1_048_576

/** Parquet: typed columns, and undeclared fields as one JSON column. The same entities give the same bytes. */
export function* writeParquet(writing: Writing): Pieces {
  const columns = columnsFor(writing.noun, writing.fields)
  const output = new Output()
  const writer = new ParquetWriter({ writer: output, schema: schemaOf(columns) })
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

  *write(writer: ParquetWriter, output: Output): Pieces {
    const columnData: ColumnSource[] = this.#columns.map(({ element }, i) => ({
      name: element.name,
      data: this.#values[i]!,
    }))
    writer.write({ columnData, rowGroupSize: this.rows })
    for (const [i, { meta_data: chunk }] of writer.row_groups.at(-1)!.columns.entries()) {
      if (chunk?.statistics && !isOrdered(this.#columns[i]!, this.#values[i]!)) {
        chunk.statistics = { null_count: chunk.statistics.null_count }
      }
    }
    yield output.take()
  }
}

/** Whether the writer's order of values is that of readers, who skip groups by their least and greatest value. */
function isOrdered({ element }: Column, values: readonly unknown[]): boolean {
  if (element.converted_type === 'JSON') return false
  // The writer compares texts by their UTF-16 units, readers by their bytes: beyond U+FFFF the two differ.
  return element.converted_type !== 'UTF8' || !values.some((value) => ASTRAL.test(value as string))
}

const ASTRAL = /[\ud800-\udfff]/
