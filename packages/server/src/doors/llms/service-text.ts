import { ABOUT_TYPES } from '@tildebase/nouns'
import { commonSections, SUMMARY } from './common.ts'

/** `/llms.txt`: how a language model uses this service, without naming anything of a tenant. */
export function serviceText(origin: string): string {
  const base = `${origin}/~{tenant}`
  const types = Object.entries(ABOUT_TYPES).map(([name, about]) => `- ${name}: ${about}`)
  return `${[
    '# Tildebase',
    `> ${SUMMARY}`,
    `The address of a tenant is ${base}. With a key, \`GET ${base}/llms.txt\` describes its types.`,
    ...commonSections(base),
    '## Built-in types',
    types.join('\n'),
    '## Links',
    [
      `- [API viewer](${origin}/docs): every endpoint, with requests from the page`,
      `- [OpenAPI](${base}/openapi.json): the endpoints of a tenant, needs a key`,
      `- [MCP](${base}/mcp): Streamable HTTP with the tools search, fetch and do`,
    ].join('\n'),
  ].join('\n\n')}\n`
}
