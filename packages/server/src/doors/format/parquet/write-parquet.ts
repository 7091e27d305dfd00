import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Pieces, Writing } from '../write.ts'
import { EXTRA, elementsOf } from './parquet-columns.ts'
import { Group, type Table, tableOf } from './parquet-group.ts'

/** Parquet: typed columns, and undeclared fields as one JSON column. The same entities give the same bytes. */
export function* writeParquet(writing: Writing): Pieces {
  const table = tableOf(writing)
  const output = new Output()
  const writer = new ParquetWriter({ writer: output, schema: schemaOf(table) })
  yield output.take()
  const group = new Group(table)
  for (const page of writing.pages()) {
    for (const entity of page) {
      group.add(entity)
      if (group.isFull) yield* writeGroup(writer, output, group)
    }
    yield null
  }
  if (group.rows > 0) yield* writeGroup(writer, output, group)
  writer.finish()
  yield output.take()
}

function schemaOf({ meta, fields }: Table) {
  const elements = [...meta.map(({ element }) => element), ...fields.flatMap(elementsOf), EXTRA]
  return [{ name: 'root', num_children: meta.length + fields.length + 1 }, ...elements]
}

/** Writes a group. ParquetWriter would do it in one step, which blocks other requests for too long. */
function* writeGroup(writer: ParquetWriter, output: Output, group: Group): Pieces {
  const columns = []
  let size = 0n
  for (const chunk of group.chunks) {
    const { isEmpty } = chunk
    const { bytes, entry } = chunk.end(group.rows, output.offset)
    columns.push(entry)
    size += entry.meta_data!.total_uncompressed_size
    yield output.pass(bytes)
    if (!isEmpty) yield null
  }
  const num_rows = BigInt(group.rows)
  writer.num_rows += num_rows
  writer.row_groups.push({ columns, total_byte_size: size, num_rows })
  group.clear()
}

/** Bytes that are passed on as soon as they are written. */
class Output extends ByteWriter {
  take(): Uint8Array {
    const bytes = this.getBytes().slice()
    this.index = 0
    return bytes
  }

  /** Counts bytes that are passed on separately. */
  pass(bytes: Uint8Array): Uint8Array {
    this.offset += bytes.length
    return bytes
  }
}
