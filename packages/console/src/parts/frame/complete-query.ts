import type { CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { OPERATORS } from '@tildebase/nouns'
import { nouns } from '../../service/schema.ts'
import type { Noun } from '../../values/noun.ts'

const META = ['$id', '$createdAt', '$updatedAt', '$createdBy', '$version']
const LOGIC = ['$and', '$or', '$not', '$text']
const DEPTH = 3

/** Completes the filter language: fields, also behind relations, operators, and the words of enums. */
export function completeQuery(noun: Noun | undefined) {
  return (context: CompletionContext): CompletionResult | null => {
    const before = context.state.sliceDoc(0, context.pos)
    const value = /"((?:[^"\\])*)"\s*:\s*(?:\{\s*"\$\w+"\s*:\s*)?\[?(?:\s*"[^"]*"\s*,)*\s*"([^"]*)$/.exec(before)
    if (value && noun) {
      const words = wordsAt(noun, value[1]!)
      return words.length === 0 ? null : result(context.pos - value[2]!.length, words, 'constant')
    }
    const key = /[{,]\s*"([^"]*)$/.exec(before)
    if (!key || !noun)
      return context.explicit && noun ? result(context.pos, names(noun, '').map(quote), 'property') : null
    const isInner = /"[^"$]+"\s*:\s*\{[^{}]*$/.test(before)
    const offered = isInner ? Object.keys(OPERATORS) : [...names(noun, key[1]!), ...LOGIC]
    return result(context.pos - key[1]!.length, offered, isInner ? 'keyword' : 'property')
  }
}

function result(from: number, words: readonly string[], type: string): CompletionResult {
  return { from, options: words.map((label) => ({ label, type })), validFor: /^[\w$.]*$/ }
}

/** The fields below what was written: `organization.` offers those of the organization. */
function names(noun: Noun, written: string): string[] {
  const hops = written.split('.').slice(0, -1)
  const end = follow(noun, hops)
  if (!end || hops.length >= DEPTH) return []
  const prefix = hops.map((hop) => `${hop}.`).join('')
  const own = Object.values(end.fields).filter(({ kind }) => kind !== 'secret')
  return [...own.map(({ name }) => `${prefix}${name}`), ...META.map((name) => `${prefix}${name}`)]
}

function follow(noun: Noun, hops: readonly string[]): Noun | undefined {
  let here: Noun | undefined = noun
  for (const hop of hops) {
    const field: Noun['fields'][string] | undefined = here?.fields[hop]
    here = field?.kind === 'forward' || field?.kind === 'back' ? nouns.value.get(field.target) : undefined
  }
  return here
}

function wordsAt(noun: Noun, path: string): readonly string[] {
  const parts = path.split('.')
  const field = follow(noun, parts.slice(0, -1))?.fields[parts.at(-1)!]
  return field?.kind === 'enum' ? (field.values ?? []) : []
}

function quote(word: string): string {
  return `"${word}"`
}
