import type { Noun } from '../noun.ts'
import { asOf } from '../place.ts'
import { send } from '../service.ts'
import { say, sayError } from '../toast.ts'
import type { MenuItem } from '../ui/menu.tsx'

const FORMATS = [
  ['csv', 'CSV, for spreadsheets'],
  ['json', 'JSON'],
  ['ndjson', 'NDJSON, one line each'],
  ['parquet', 'Parquet, for analysis'],
] as const

/** The items of a menu that exports what a filter leaves, as of the time shown. */
export function exportItems(noun: Noun, filter: object): MenuItem[] {
  return FORMATS.map(([format, label], at) => ({
    label,
    icon: 'download',
    ...(at === 0 && { section: 'Export' }),
    onSelect: () => download(noun, format, filter).catch(sayError),
  }))
}

async function download(noun: Noun, format: string, filter: object): Promise<void> {
  const query = { format, filter: Object.keys(filter).length === 0 ? undefined : filter, asOf: asOf.value ?? undefined }
  const response = await send('GET', `/export/${noun.name}`, { query })
  saveFile(await response.blob(), `${noun.name}.${format}`)
  say(`${noun.name}.${format} is in your downloads.`)
}

/** Hands a file to the browser's downloads. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
