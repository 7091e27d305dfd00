import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Pieces, Writing } from '../write.ts'
import { EXTRA, elementsOf } from './parquet-columns.ts'
import { Group, type Table, tableOf } from './parquet-group.ts'

/** Parquet: typed columns, and undeclared fields as one JSON column. The same entities give the same bytes. */
export function* writeParquet(writing: Writing): Pieces {
  const file = new ParquetFile(tableOf(writing))
  for (const page of writing.pages()) {
    for (const entity of page) {
      file.group.add(entity)
      if (file.group.isFull) yield* file.endGroup()
    }
    yield null
  }
  if (file.group.rows > 0) yield* file.endGroup()
  yield file.end()
}

/** A file that is written column by column: all columns of a group in one step would block other requests for too long. */
class ParquetFile {
  readonly group: Group
  readonly #output = new Output()
  readonly #whole: ParquetWriter
  /** Writers of one column each, to the same output. */
  readonly #columns: readonly ParquetWriter[]

  constructor(table: Table) {
    this.group = new Group(table)
    const columns = columnsOf(table)
    this.#columns = columns.map((elements) => {
      return new ParquetWriter({ writer: new Output(), schema: schemaOf([elements.map(asText)]) })
    })
    for (const column of this.#columns) column.writer = this.#output
    this.#whole = new ParquetWriter({ writer: this.#output, schema: schemaOf(columns) })
  }

  *endGroup(): Pieces {
    const { rows } = this.group
    const groups = []
    for (const [i, source] of this.group.end().entries()) {
      const column = this.#columns[i]!
      column.write({ columnData: [{ ...source, offsetIndex: false }], rowGroupSize: rows })
      groups.push(column.row_groups.pop()!)
      yield this.#output.take()
    }
    this.#whole.num_rows += BigInt(rows)
    this.#whole.row_groups.push({
      columns: groups.flatMap(({ columns }) => columns),
      total_byte_size: groups.reduce((sum, { total_byte_size }) => sum + total_byte_size, 0n),
      num_rows: BigInt(rows),
    })
  }

  end(): Uint8Array {
    this.#whole.finish()
    return this.#output.take()
  }
}

type Elements = ReturnType<typeof elementsOf>

function columnsOf({ meta, fields }: Table): readonly Elements[] {
  return [...meta.map(({ element }) => [element]), ...fields.map(elementsOf), [EXTRA]]
}

function schemaOf(columns: readonly Elements[]) {
  return [{ name: 'root', num_children: columns.length }, ...columns.flat()]
}

/** JSON as the text that it already is: the writer would make text of it again, and lose fields named `__proto__`. */
function asText(element: Elements[number]): Elements[number] {
  const { converted_type, ...text } = element
  return converted_type === 'JSON' ? text : element
}

/** Bytes that are passed on as soon as they are written. */
class Output extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice()
    this.index = 0
    return bytes
  }
}
