import { ABOUT_TYPES, type Noun } from '@tildebase/nouns'
import type { Call } from '../call.ts'
import { inFewWords, surfacedNouns } from '../mcp/types-text.ts'
import { commonSections, SUMMARY } from './common.ts'

/** `/~{tenant}/llms.txt`: the types of the tenant that the key may read and the lens surfaces, and how to use them. */
export function tenantText(call: Pick<Call, 'tenant' | 'address' | 'read' | 'lens'>): string {
  const { tenant, address, read } = call
  const nouns = surfacedNouns(call)
  const readOnly = nouns.filter((noun) => !read.may('write', noun) && !read.may('propose', noun))
  return `${[
    `# Tildebase: ${tenant.slug}`,
    `> ${SUMMARY}`,
    `This describes the tenant ${tenant.slug} for the key that asked: the types that it may read.${rights(readOnly, nouns)}`,
    ...commonSections(address),
    '## Types',
    'Notation: `*` required, `>` relation, words in parentheses are the values of an enum. Every type also has `$id`, `$version`, `createdAt` and `updatedAt`.',
    nouns.map(lineOf).join('\n') || 'The key may read no type.',
    '## Links',
    [
      `- [OpenAPI](${address}/openapi.json): every endpoint with schemas and examples`,
      `- [Schema](${address}/schema): the declarations of the types`,
      `- [Events](${address}/events): the log`,
      `- [MCP](${address}/mcp): Streamable HTTP with the tools search, fetch and do`,
    ].join('\n'),
  ].join('\n\n')}\n`
}

function rights(readOnly: readonly Noun[], nouns: readonly Noun[]): string {
  if (readOnly.length === 0) return ''
  if (readOnly.length === nouns.length) return ' It may not write any of them.'
  return ` It may not write ${readOnly.map(({ name }) => name).join(', ')}.`
}

function lineOf(noun: Noun): string {
  const about = Object.hasOwn(ABOUT_TYPES, noun.name) ? ABOUT_TYPES[noun.name as keyof typeof ABOUT_TYPES] : null
  return `- ${inFewWords(noun)}${about ? `. ${about}` : ''}`
}
