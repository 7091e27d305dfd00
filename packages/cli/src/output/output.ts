import { styleText } from 'node:util'
import { cell } from './cell.ts'
import { type Shown, tableText } from './table.ts'

/** The output of a command: a table on a terminal, lines with tabs in a pipe, JSON on request. */
export interface Output {
  readonly isTerminal: boolean
  readonly json: boolean
  /** Several items, one per line. `whole` is the JSON output. */
  list(things: readonly Shown[], columns: readonly string[], whole?: unknown): void
  /** One item, one line per field. */
  record(thing: Shown): void
  /** A single value. */
  value(value: unknown): void
  line(text: string): void
  /** A note for people, on standard error. */
  note(text: string): void
  /** Raw bytes. */
  bytes(chunk: Uint8Array): Promise<void>
}

export function outputTo(
  stdout: NodeJS.WriteStream,
  stderr: NodeJS.WriteStream,
  options: { readonly json: boolean; readonly color: boolean },
): Output {
  const isTerminal = stdout.isTTY === true
  const { json } = options
  const line = (text: string) => void stdout.write(`${text}\n`)
  const asJson = (value: unknown) => line(JSON.stringify(value, null, isTerminal ? 2 : undefined))
  const bold = (text: string) => (options.color ? styleText('bold', text, { validateStream: false }) : text)
  return {
    isTerminal,
    json,
    line,
    list(things, columns, whole = things) {
      if (json) return asJson(whole)
      if (!isTerminal) return void things.forEach((thing) => void line(tabbed(columns.map((name) => thing[name]))))
      for (const text of tableText(things, columns, stdout.columns || 80, bold)) line(text)
    },
    record(thing) {
      if (json) return asJson(thing)
      const names = Object.keys(thing)
      if (!isTerminal) return void names.forEach((name) => void line(`${name}\t${cell(thing[name])}`))
      const width = Math.max(...names.map((name) => name.length))
      for (const name of names) line(`${bold(name.padEnd(width))}  ${cell(thing[name])}`)
    },
    value: (value) => (json || (typeof value === 'object' && value !== null) ? asJson(value) : line(cell(value))),
    note(text) {
      if (isTerminal && !json) stderr.write(`${text}\n`)
    },
    bytes: (chunk) =>
      new Promise((done, failed) => void stdout.write(chunk, (reason) => (reason ? failed(reason) : done()))),
  }
}

function tabbed(values: readonly unknown[]): string {
  return values.map(cell).join('\t')
}
