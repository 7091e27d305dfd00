import type { Call } from './command.ts'
import { UsageError } from './usage-error.ts'

/** The one word that a command takes. */
export function oneWord({ words }: Pick<Call, 'words'>, what: string): string {
  const [first] = someWords({ words }, [what])
  return first!
}

/** The words that a command takes, each told by what it is when it is missing. */
export function someWords({ words }: Pick<Call, 'words'>, what: readonly string[]): readonly string[] {
  const missing = what[words.length]
  if (missing !== undefined) throw new UsageError(`Give ${missing}.`)
  const [more] = words.slice(what.length)
  if (more !== undefined) throw new UsageError(`${more} is one word too many.`)
  return words
}

/** All of standard input, or nothing when it is a terminal. */
export async function standardInput(): Promise<string> {
  if (process.stdin.isTTY) return ''
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  return text
}
