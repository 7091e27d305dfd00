import { type Reply, ROOT } from '../host.ts'

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

/** A host that scenarios are played on, whatever it runs on. */
export interface Stage {
  readonly url: string
  readonly request: Send
  as(key: string): Send
}

/** A stage at a URL, which may change when the host is started again. */
export function stageAt(url: () => string): Stage {
  const as =
    (key: string): Send =>
    async (method, path, body, headers = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array
      const response = await fetch(`${url()}${path}`, {
        method,
        headers: {
          ...(key !== '' && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
        redirect: 'manual',
      })
      const bytes = new Uint8Array(await response.arrayBuffer())
      const text = new TextDecoder().decode(bytes)
      return { status: response.status, headers: response.headers, text, body: parsed(text), bytes } as Reply
    }
  return {
    get url() {
      return url()
    },
    request: as(ROOT),
    as,
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
