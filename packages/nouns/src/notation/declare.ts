import type { Notation, NounOf } from '../infer/infer.ts'
import type { Noun } from '../noun.ts'

/** The defaults of a type, which its notation can change with `$domain`, `$path` and `$strict`. */
export interface NounOptions {
  readonly domain?: string
  readonly path?: string
  readonly strict?: boolean
  /** `log` for a type whose entities are log records. */
  readonly storage?: Noun['storage']
  /** The earlier names of renamed fields: `{ metres: 'length' }`. `tilde schema push` renames them in what is stored. */
  readonly renamed?: { readonly [field: string]: string }
}

type Parse = (name: string, notation: unknown, options?: NounOptions) => Noun

/** The parser, once its module is loaded; that of the built-in types, once they are. */
let parser: Parse | null = null

export function useParser(parse: Parse): void {
  parser = parse
}

/**
 * Declares a type in code; TypeScript knows its fields, verbs and events from then on. An invalid declaration throws.
 * A bundle that holds nothing but the client has no parser: there a noun is its name and its notation, which is all that
 * the client needs. The service checks it.
 */
export function noun<const Name extends string, const N extends Notation>(
  name: Name,
  notation: N,
  options: NounOptions = {},
): NounOf<Name, N> {
  const declared = parser ? parser(name, notation, options) : { name, notation }
  return declared as unknown as NounOf<Name, N>
}
