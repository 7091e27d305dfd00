import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Host, readSettings, startHost } from '@tildebase/server'

/** The operator's key in tests. */
export const ROOT = 'root-key-of-the-tests'

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
  readonly text: string
}

export interface TestHost {
  readonly url: string
  readonly data: string
  /** One request with the operator's key, or with `headers.authorization` of its own; the body is sent as JSON. */
  request(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  /** The same with another key. */
  as(key: string): (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>
  /** A key of a tenant, made by the operator. */
  key(tenant: string, scopes: string, more?: object): Promise<string>
  stop(): Promise<void>
}

/** A real host on a free port with a data folder of its own. */
export async function testHost(
  env: Record<string, string> = {},
  flags: Record<string, string> = {},
): Promise<TestHost> {
  const data = flags.data ?? mkdtempSync(join(tmpdir(), 'tildebase-'))
  const host: Host = await startHost(
    readSettings({ port: '0', workers: '0', ...flags, data }, { TILDE_ROOT_KEY: ROOT, ...env }),
  )
  const as =
    (key: string) =>
    async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> => {
      const raw = typeof body === 'string' || body instanceof Uint8Array
      const response = await fetch(`${host.url}${path}`, {
        method,
        headers: {
          ...(key !== '' && { authorization: `Bearer ${key}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? (body as BodyInit) : JSON.stringify(body) }),
        redirect: 'manual',
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: parsed(text) }
    }
  const request = as(ROOT)
  return {
    url: host.url,
    data,
    request,
    as,
    async key(tenant, scopes, more = {}) {
      const { body } = await request('POST', `/~${tenant}/api-keys`, { name: scopes, scopes, ...more })
      return body.secret
    },
    async stop() {
      await host.stop()
      if (flags.data === undefined) rmSync(data, { recursive: true, force: true })
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
