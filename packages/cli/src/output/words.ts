import type { Call } from '../command.ts'
import { UsageError } from '../parse/usage-error.ts'

/** The one argument of a command. */
export function oneWord({ words }: Pick<Call, 'words'>, what: string): string {
  const [first] = someWords({ words }, [what])
  return first!
}

/** The arguments of a command; the error names the one that is missing. */
export function someWords({ words }: Pick<Call, 'words'>, what: readonly string[]): readonly string[] {
  const missing = what[words.length]
  if (missing !== undefined) throw new UsageError(`Give ${missing}.`)
  const [more] = words.slice(what.length)
  if (more !== undefined)
    throw new UsageError(`Unexpected argument: ${more}.${/^\w+=/.test(more) ? ` Did you mean --${more}?` : ''}`)
  return words
}

/** All of standard input, or nothing when it is a terminal. */
export async function standardInput(): Promise<string> {
  if (process.stdin.isTTY) return ''
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}
