/// <reference path="../apps/apps.d.ts" />
import { INVALID_PARAMS, ProtocolError, type Tool } from '@modelcontextprotocol/server'
import { isPlainObject, Problem } from '@tildebase/nouns'
import { APPS as PAGES } from '#apps'
import type { Call } from '../call.ts'
import { decisionUrl } from '../decide/routes.ts'
import type { Answer } from './result.ts'

/** The kind of a page, as hosts know it. */
export const PAGE_TYPE = 'text/html;profile=mcp-app'
const MOST_VERSIONS = 50

/** The page of each tool. */
const PAGE_OF: { readonly [tool: string]: keyof typeof PAGES } = { search: 'list', fetch: 'entity', do: 'changeset' }

const DESCRIPTIONS: { readonly [page in keyof typeof PAGES]: string } = {
  list: 'A list as a table.',
  entity: 'An entity with its history.',
  changeset: 'A proposal as a diff, with the way to its decision.',
}

/** The tools for a client that shows pages: each names its own. */
export function withPages(tools: readonly Tool[]): Tool[] {
  return tools.map((tool) => ({ ...tool, _meta: { ui: { resourceUri: uriOf(PAGE_OF[tool.name]!) } } }))
}

/** Answers `resources/list`. */
export function listPages() {
  return {
    resources: Object.entries(DESCRIPTIONS).map(([name, description]) => ({
      uri: uriOf(name),
      name,
      description,
      mimeType: PAGE_TYPE,
    })),
  }
}

/** Answers `resources/read`. The pages are the same for everyone, and need no network. */
export function readPage(uri: string) {
  const name = Object.keys(PAGES).find((one) => uriOf(one) === uri) as keyof typeof PAGES | undefined
  if (name === undefined) throw new ProtocolError(INVALID_PARAMS, `There is no resource ${uri.slice(0, 200)}.`, { uri })
  const _meta = { ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true } }
  return { contents: [{ uri, mimeType: PAGE_TYPE, text: PAGES[name], _meta }] }
}

/** What a page needs in addition to the answer of its tool; hosts do not show it to the model. */
export async function pageData(call: Call, tool: string, input: unknown, answer: object): Promise<Answer | undefined> {
  const { type, id } = isPlainObject(input) ? input : {}
  if (tool === 'do') return reviewIn(call, answer)
  if (tool !== 'fetch' || typeof type !== 'string' || typeof id !== 'string' || !('$version' in answer))
    return undefined
  const noun = call.read.nouns.get(type)
  if (noun?.name !== 'Changeset') return noun && historyOf(call, noun.name, id)
  const { signature } = await inWrite(call, (write) => write.decision(id))
  return { 'tildebase/url': decisionUrl(call, id, signature) }
}

async function reviewIn(call: Call, answer: object): Promise<Answer | undefined> {
  const { changeset } = answer as { changeset?: { $id: string } | null }
  if (!changeset) return undefined
  const { diff, conflicts, messages } = await inWrite(call, (write) => write.review(changeset.$id))
  return { 'tildebase/review': { diff, conflicts, messages } }
}

function inWrite<T>(call: Call, work: Parameters<typeof call.tenant.write<T>>[3]): Promise<T> {
  return call.tenant.write<T>(call.grant, call.writes, call.newBudget(), work)
}

/** The last versions of an entity, oldest first. */
function historyOf({ read }: Call, type: string, id: string): Answer | undefined {
  try {
    const { results } = read.history(read.noun(type), id, MOST_VERSIONS, null)
    const versions = results.map(({ seq, timestamp, verb, actor }) => ({ seq, at: timestamp, verb, actor }))
    return { 'tildebase/history': versions.reverse() }
  } catch (reason) {
    // What has no versions, such as an Event, is shown without them.
    if (reason instanceof Problem) return undefined
    throw reason
  }
}

function uriOf(name: string): string {
  return `ui://tildebase/${name}`
}
