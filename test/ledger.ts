import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Requirement } from './requirements.ts'

const TEST_FILES = ['packages/**/*.test.ts', 'test/**/*.test.ts']

/** What one call of `verifies` says it proves; `ids` is empty when they are not written as literals. */
export type Claim = { readonly file: string; readonly line: number; readonly ids: readonly string[] }

/** The state of the requirements. In a valid ledger only `proved` and `open` have entries. */
export type Ledger = {
  readonly proved: readonly Requirement[]
  readonly open: readonly Requirement[]
  /** Neither proved nor marked open. */
  readonly unmarked: readonly string[]
  /** Marked open, although a test proves them. */
  readonly stale: readonly string[]
  /** Named by a test or by a mark, and not a requirement. */
  readonly unknown: readonly string[]
  /** Calls whose ids are not literals, as file:line. */
  readonly unreadable: readonly string[]
}

/** Weighs the requirements against the marks and what the tests claim. */
export function balance(
  requirements: readonly Requirement[],
  marks: readonly string[],
  claims: readonly Claim[],
): Ledger {
  const known = new Set(requirements.map(({ id }) => id))
  const claimed = new Set(claims.flatMap(({ ids }) => ids))
  const marked = new Set(marks)
  const open = requirements.filter(({ id }) => !claimed.has(id))
  return {
    proved: requirements.filter(({ id }) => claimed.has(id)),
    open,
    unmarked: open.map(({ id }) => id).filter((id) => !marked.has(id)),
    stale: marks.filter((id) => claimed.has(id)),
    unknown: [...new Set([...claimed, ...marked])].filter((id) => !known.has(id)),
    unreadable: claims.filter(({ ids }) => ids.length === 0).map(({ file, line }) => `${file}:${line}`),
  }
}

/** The claims of every test file below `root`. */
export function findClaims(root: string): readonly Claim[] {
  return globSync(TEST_FILES, { cwd: root, exclude: (path) => path.includes('node_modules') })
    .toSorted()
    .flatMap((file) => readClaims(file, readFileSync(join(root, file), 'utf8')))
}

// Comments and strings come first, so that a call inside one of them is passed over.
const TOKEN =
  /\/\/.*|\/\*[\s\S]*?\*\/|`(?:\\[\s\S]|[^`\\])*`|\bverifies\(\s*(?<ids>\[[^\]]*\]|'[^'\n]*')?|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/g

/** The claims in the text of one test file. */
export function readClaims(file: string, text: string): readonly Claim[] {
  return [...text.matchAll(TOKEN)]
    .filter(([token]) => token.startsWith('verifies('))
    .map(({ index, groups }) => ({
      file,
      line: text.slice(0, index).split('\n').length,
      ids: [...(groups?.ids ?? '').matchAll(/'([^']*)'/g)].map(([, id]) => id!),
    }))
}
