const NAME = /^[A-Za-z_$][\w$]*$/
const WIDTH = 100

/** How a value is written as code. */
interface Way {
  /** The spaces before the line that it begins in. */
  readonly indent?: number
  /** As a type of literals instead of a value. */
  readonly readonly?: boolean
}

/** A value of JSON as TypeScript, in one line if it is short. */
export function codeText(value: unknown, { indent = 0, readonly = false }: Way = {}): string {
  if (typeof value === 'string') return quoted(value)
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'undefined'
  const inner = { indent: indent + 2, readonly }
  const mark = readonly ? 'readonly ' : ''
  const parts = Array.isArray(value)
    ? value.map((one) => codeText(one, inner))
    : Object.entries(value).map(([name, one]) => `${mark}${nameText(name)}: ${codeText(one, inner)}`)
  const [open, close] = Array.isArray(value) ? [`${mark}[`, ']'] : ['{', '}']
  if (parts.length === 0) return open + close
  const space = Array.isArray(value) ? '' : ' '
  const line = `${open}${space}${parts.join(', ')}${space}${close}`
  if (line.length + indent <= WIDTH && !line.includes('\n')) return line
  const margin = ' '.repeat(indent + 2)
  return `${open}\n${parts.map((part) => `${margin}${part},\n`).join('')}${' '.repeat(indent)}${close}`
}

/** The name of a property. */
export function nameText(name: string): string {
  return NAME.test(name) ? name : quoted(name)
}

/** A string in single quotes. */
export function quoted(text: string): string {
  const inside = JSON.stringify(text).slice(1, -1)
  return `'${inside.replaceAll('\\"', '"').replaceAll("'", "\\'")}'`
}
