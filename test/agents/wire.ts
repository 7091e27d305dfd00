import type { Reply } from '../host.ts'
import type { Browser } from '../people/people.ts'

const META = 'io.modelcontextprotocol'
export const TASKS = 'io.modelcontextprotocol/tasks'
export const APPS = 'io.modelcontextprotocol/ui'

/** What a client declares with a request of revision 2026-07-28. */
export interface Declared {
  readonly tasks?: boolean
  readonly apps?: boolean
  readonly urls?: boolean
}

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

/** Sends one request of revision 2026-07-28, with its headers, and gives the message that answers it. */
export async function speak(
  send: Send,
  tenant: string,
  method: string,
  params: Record<string, unknown> = {},
  declared: Declared = {},
  headers: Record<string, string> = {},
): Promise<any> {
  const extensions = {
    ...(declared.tasks && { [TASKS]: {} }),
    ...(declared.apps && { [APPS]: { mimeTypes: ['text/html;profile=mcp-app'] } }),
  }
  const _meta = {
    [`${META}/protocolVersion`]: '2026-07-28',
    [`${META}/clientInfo`]: { name: 'test', version: '1.0.0' },
    [`${META}/clientCapabilities`]: { extensions, ...(declared.urls && { elicitation: { url: {} } }) },
  }
  const name = params.taskId ?? params.name ?? params.uri
  const named = ['tools/call', 'resources/read', 'tasks/get', 'tasks/update', 'tasks/cancel'].includes(method)
  const { status, body } = await send(
    'POST',
    `/~${tenant}/mcp`,
    { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } },
    {
      accept: 'application/json',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(named && name !== undefined && { 'mcp-name': String(name) }),
      ...headers,
    },
  )
  return { status, ...body }
}

/** Proposes a new contact through `do`. */
export function propose(send: Send, tenant: string, declared: Declared, name = 'Ada'): Promise<any> {
  const code = `await $.Contact.create({ name: ${JSON.stringify(name)} })`
  return speak(send, tenant, 'tools/call', { name: 'do', arguments: { code, propose: `Add ${name}` } }, declared)
}

/** Sends the form of the page of a task as a person. */
export async function decide(who: Browser, url: string, decision: string, more: Record<string, string> = {}) {
  const { pathname, search } = new URL(url)
  const shown = await who.send('GET', pathname + search)
  const fields = Object.fromEntries(
    [...shown.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)].map(([, name, value]) => [
      name,
      value,
    ]),
  )
  const form = new URLSearchParams({ ...fields, decision, ...more } as Record<string, string>).toString()
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return { shown, sent: await who.send('POST', pathname + search, form, headers) }
}

/** The address in the answer of a tool at which a person decides on what was proposed. */
export function addressIn(text: string): string {
  return /https?:\/\/[^\s"\\]+\/decide[^\s"\\]*/.exec(text)![0]
}
