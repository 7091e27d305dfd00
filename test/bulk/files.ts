import { parquetReadObjects } from 'hyparquet'
import { ROOT, type TestHost } from '../host.ts'

/** The bytes of an export. */
export async function exported(
  host: TestHost,
  path: string,
  key = '',
): Promise<{ bytes: Uint8Array<ArrayBuffer>; headers: Headers }> {
  const response = await fetch(`${host.url}${path}`, {
    headers: { authorization: `Bearer ${key || ROOT}` },
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return { bytes: new Uint8Array(await response.arrayBuffer()), headers: response.headers }
}

/** The rows of a parquet file as an independent reader sees them. */
export async function parquetRows(bytes: Uint8Array<ArrayBuffer>): Promise<Record<string, unknown>[]> {
  return parquetReadObjects({ file: bytes.buffer })
}

/** The entity of a row: dates as their texts, nothing that is null, and the extra fields next to the others. */
export function entityOf(row: Record<string, unknown>, dates: readonly string[]): Record<string, unknown> {
  const { $extra, ...own } = row
  const entries = Object.entries(own).filter(([, value]) => value !== null && value !== undefined)
  return {
    ...Object.fromEntries(
      entries.map(([name, value]) => {
        if (!(value instanceof Date)) return [name, value]
        return [name, dates.includes(name) ? value.toISOString().slice(0, 10) : value.toISOString()]
      }),
    ),
    ...($extra as object | null),
  }
}
