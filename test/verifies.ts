import { type TestFunction, test } from 'vitest'
import { REQUIREMENTS, type RequirementId } from './requirements.ts'

const KNOWN: ReadonlySet<string> = new Set(REQUIREMENTS.map(({ id }) => id))

/** A test that proves requirements. Write the ids as literals: the ledger finds them in the text of the test file. */
export function verifies(
  proved: RequirementId | readonly RequirementId[],
  title: string,
  prove: TestFunction,
  timeout?: number,
): void {
  const ids: readonly string[] = typeof proved === 'string' ? [proved] : proved
  const unknown = ids.filter((id) => !KNOWN.has(id))
  if (unknown.length > 0) throw new Error(`No requirement is called ${unknown.join(' or ')}.`)
  test(title, prove, timeout)
}
