import { createInterface } from 'node:readline'

/** Where the messages come from and go to. */
export interface McpLine {
  readonly input: NodeJS.ReadableStream
  readonly output: NodeJS.WritableStream
  /** The tenant's own address: `http://localhost:8787/~acme/mcp`. */
  readonly url: string
  readonly key: string
}

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly params?: { readonly name?: unknown; readonly _meta?: { readonly [key: string]: unknown } }
  readonly result?: { readonly protocolVersion?: string }
}

const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion'

/** Passes MCP messages, a line each, on to a tenant over HTTP and its answers back, until the input ends. */
export async function bridgeMcp({ input, output, url, key }: McpLine): Promise<void> {
  const under: Set<Promise<void>> = new Set()
  /** The negotiated revision; later requests name it. */
  let version: string | undefined

  const pass = async (line: string): Promise<void> => {
    const message = parsed(line)
    if (message === null) return tell({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Not JSON.' } })
    try {
      for (const answer of await exchange(url, key, line, headersOf(message, version))) {
        version = answer.result?.protocolVersion ?? version
        tell(answer)
      }
    } catch (reason) {
      if (message.id === undefined) return
      tell({ jsonrpc: '2.0', id: message.id, error: { code: -32603, message: (reason as Error).message } })
    }
  }
  const tell = (message: object) => void output.write(`${JSON.stringify(message)}\n`)

  for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() === '') continue
    const done = pass(line)
    under.add(done)
    void done.then(() => under.delete(done))
    // Later messages wait for the end of the handshake.
    if (version === undefined) await done
  }
  await Promise.all(under)
}

async function exchange(url: string, key: string, body: string, more: Record<string, string>): Promise<Message[]> {
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more,
  }
  const response = await fetch(url, { method: 'POST', headers, body })
  const text = await response.text()
  if (text === '') return []
  if (!response.headers.get('content-type')?.startsWith('text/event-stream')) return [answerOf(text)]
  return [...text.matchAll(/^data: (.+)$/gm)].map(([, data]) => answerOf(data!))
}

/** An answer of the protocol, or the service's error: a wrong key, an unknown tenant. */
function answerOf(text: string): Message {
  const body = JSON.parse(text)
  if (body.jsonrpc === '2.0') return body
  throw new Error(body.message ?? text)
}

/** The newest revision requires headers for gateways; earlier ones require only the version. */
function headersOf({ method, params }: Message, agreed: string | undefined): Record<string, string> {
  const own = params?._meta?.[VERSION_KEY]
  if (typeof own !== 'string' || method === undefined) return agreed ? { 'mcp-protocol-version': agreed } : {}
  const base = { 'mcp-protocol-version': own, 'mcp-method': method }
  return typeof params?.name === 'string' ? { ...base, 'mcp-name': params.name } : base
}

function parsed(line: string): Message | null {
  try {
    return JSON.parse(line)
  } catch {
    return null
  }
}
