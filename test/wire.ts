import { once } from 'node:events'
import { type IncomingHttpHeaders, request } from 'node:http'

/** An answer as it came over the wire. */
export interface WireReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: any
}

/** A request whose Host and path are sent as they are given, which fetch would not do. */
export async function wire(
  url: string,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
  body?: unknown,
): Promise<WireReply> {
  const { hostname, port } = new URL(url)
  const content = body === undefined ? '' : JSON.stringify(body)
  // Node tells no length of a GET with a body, and a body without a length is not a request.
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(content) }
  const sent = request({
    hostname,
    port,
    path,
    method,
    headers: { 'content-type': 'application/json', ...length, ...headers },
  })
  sent.end(content)
  const [response] = await once(sent, 'response')
  let text = ''
  for await (const chunk of response) text += chunk
  return { status: response.statusCode, headers: response.headers, body: text === '' ? null : parsed(text) }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
