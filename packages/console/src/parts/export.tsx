import { send } from '../api.ts'
import { asOf } from '../place.ts'
import type { Noun } from '../schema.ts'
import { Act } from './basics.tsx'
import { Menu } from './menu.tsx'
import { say, sayError } from './notes.tsx'

const FORMATS = ['json', 'ndjson', 'csv', 'parquet']

/** Takes the entities along as a file: those that the filter leaves, as of the time shown. */
export function ExportMenu({ noun, filter }: { noun: Noun; filter: string }) {
  return (
    <Menu label="Export">
      {FORMATS.map((format) => (
        <Act key={format} class="verb" onRun={() => download(noun, format, filter).catch(sayError)}>
          {format.toUpperCase()}
        </Act>
      ))}
    </Menu>
  )
}

async function download(noun: Noun, format: string, filter: string): Promise<void> {
  const response = await send('GET', `/export/${noun.name}`, {
    query: { format, filter: filter === '{}' ? null : filter, asOf: asOf.value },
  })
  keep(await response.blob(), `${noun.name}.${format}`)
  say(`${noun.name}.${format} is in your downloads.`)
}

/** Hands a file to the browser's downloads. */
export function keep(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
