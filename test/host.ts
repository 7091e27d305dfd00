import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { type Host, readSettings, startHost } from '@tildebase/server'
import { fetchResponseOf, httpRequestOf, withBody } from '../packages/server/src/host/fetch-adapter.ts'
import { openService } from '../packages/server/src/node/service.ts'
import { ROOT } from './root-key.ts'

export { ROOT }

/** The host that tests run on: `TILDE_TEST_HOST=workerd npx vitest run test/rest`. Node unless set. */
const HOST = process.env.TILDE_TEST_HOST

export interface Reply {
  readonly status: number
  readonly headers: Headers
  readonly body: any
  readonly text: string
}

type Send = (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Reply>

/** Ends a test of what a host does not have by design: `npm run hosts` counts it as not applicable. */
export function needs(what: string): void {
  if (HOST === 'workerd') throw new Error(`workerd has no ${what}`)
}

/** The value of a header that was sent without one: workerd does not send it. */
export const EMPTY_HEADER = HOST === 'workerd' ? null : ''

/** The service, and requests to it. */
export interface TestApp {
  readonly data: string
  /** The slugs of the tenants that it keeps. */
  tenants(): Promise<readonly string[]>
  /** All that it keeps of tenants on the disk. */
  stored(): string
  /** As the global `fetch`, for paths below the service's address. */
  fetch(path: string, init?: RequestInit): Promise<Response>
  /** One request with the operator's key, or with `headers.authorization` of its own; the body is sent as JSON. */
  readonly request: Send
  /** The same with another key. */
  as(key: string): Send
  /** A key of a tenant, made by the operator. */
  key(tenant: string, scopes: string, more?: object): Promise<string>
  stop(): Promise<void>
}

export interface TestHost extends TestApp {
  readonly url: string
  /** Stops it, and starts it with the same tenants. */
  restart(): Promise<void>
}

const ADDRESS = 'http://127.0.0.1:8787'

/** The service in this process, without a socket, on its own data folder. */
export async function testApp(env: Record<string, string> = {}, flags: Record<string, string> = {}): Promise<TestApp> {
  if (HOST === 'workerd') return workerdHost(env, flags)
  const { settings, data, remove } = settingsFor(env, flags)
  const service = await openService(settings)
  service.begin(ADDRESS)
  const send = async (path: string, init?: RequestInit) => {
    const request = new Request(`${ADDRESS}${path}`, init)
    const { host, ...headers } = Object.fromEntries(new Headers(init?.headers))
    const plain = await withBody({ ...httpRequestOf(request), headers }, settings.bodyLimit)
    const answer = await service.gateway.answer(host === undefined ? plain : { ...plain, host })
    return fetchResponseOf(answer, request.method)
  }
  return {
    ...requests(send),
    ...onDisk(data),
    async stop() {
      await service.rest()
      await service.close()
      remove()
    },
  }
}

/** A real host on a free port, for tests whose subject is the socket. */
export async function testHost(
  env: Record<string, string> = {},
  flags: Record<string, string> = {},
): Promise<TestHost> {
  if (HOST === 'workerd') return workerdHost(env, flags)
  const { settings, data, remove } = settingsFor(env, flags)
  let host: Host = await startHost(settings)
  return {
    ...requests((path, init) => fetch(`${host.url}${path}`, init)),
    ...onDisk(data),
    get url() {
      return host.url
    },
    async restart() {
      await host.stop()
      host = await startHost(settings)
    },
    async stop() {
      await host.stop()
      remove()
    },
  }
}

/** Flags that mean the same as a variable of the Worker, or nothing on a host with a thread for each tenant. */
const WORKERD_FLAGS: { readonly [flag: string]: string | null } = {
  'host-suffix': 'TILDE_HOST_SUFFIX',
  'create-tenants': 'TILDE_CREATE_TENANTS',
  workers: null,
}

/** The service on workerd, which has no folder of data and no file of hooks. */
async function workerdHost(env: Record<string, string>, flags: Record<string, string>): Promise<TestHost> {
  const { SERVICE, startWorkerd } = await import('./hosts/workerd.ts')
  const variables = { ...env }
  for (const [flag, value] of Object.entries(flags)) {
    const name = WORKERD_FLAGS[flag]
    if (name === undefined) throw new Error(`workerd has no --${flag}`)
    if (name !== null) variables[name] = value
  }
  const workerd = await startWorkerd({ ...SERVICE, variables })
  const sending = requests((path, init) => fetchAs(`${workerd.url}${path}`, init))
  return {
    ...sending,
    get url() {
      return workerd.url
    },
    get data(): string {
      throw new Error('workerd has no folder of data')
    },
    tenants: async () => (await sending.request('GET', '/operator/tenants')).body.results.map((one: any) => one.tenant),
    stored: () => objectsIn(join(workerd.storage, 'TenantObject')),
    restart: () => workerd.crash(),
    stop: () => workerd.stop(),
  }
}

/** The tenants in a folder of data. */
function onDisk(data: string) {
  const folder = join(data, 'tenants')
  const files = () => readdirSync(folder, { recursive: true }).map(String)
  return {
    data,
    tenants: async () => files().flatMap((name) => (name.endsWith('.db') ? basename(name, '.db') : [])),
    stored: () => textIn(folder),
  }
}

/** The databases of objects, with the logs next to them. */
function objectsIn(folder: string): string {
  const copy = mkdtempSync(join(tmpdir(), 'tildebase-objects-'))
  copyWhole(folder, copy)
  const text = textIn(copy)
  rmSync(copy, { recursive: true })
  return text
}

/** Copies a folder. An object that is put to rest meanwhile removes its log: then it is copied again. */
function copyWhole(from: string, to: string): void {
  for (let tries = 1; ; tries++) {
    try {
      cpSync(from, to, { recursive: true })
      return
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'ENOENT' || tries === 100) throw reason
      rmSync(to, { recursive: true, force: true })
    }
  }
}

/** The bytes of all files in a folder, a letter each. */
function textIn(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
}

/** As `fetch`, which does not send a Host that it is given, to a server that closes idle connections after 15 seconds. */
async function fetchAs(url: string, init?: RequestInit): Promise<Response> {
  // After a long computation, closed connections have not been noticed yet: one of them would be used.
  for (let turn = 0; turn < 2; turn++) await new Promise((done) => setImmediate(done))
  const host = new Headers(init?.headers).get('host')
  if (host === null) return fetch(url, init)
  const { method, headers, body } = new Request(url, init)
  const sent = request(url, { method, headers: { ...Object.fromEntries(headers), host } })
  sent.end(body === null ? undefined : Buffer.from(await new Response(body).arrayBuffer()))
  const [answer] = (await once(sent, 'response')) as [IncomingMessage]
  const bytes = Buffer.concat(await answer.toArray())
  const all = Object.entries(answer.headers).map(([name, value]) => [name, String(value)] as [string, string])
  return new Response(bytes.length > 0 ? bytes : null, { status: answer.statusCode!, headers: all })
}

function settingsFor(env: Record<string, string>, flags: Record<string, string>) {
  const data = flags.data ?? mkdtempSync(join(tmpdir(), 'tildebase-'))
  const settings = readSettings({ port: '0', workers: '0', ...flags, data }, { TILDE_ROOT_KEY: ROOT, ...env })
  const remove = () => flags.data === undefined && rmSync(data, { recursive: true, force: true })
  return { settings, data, remove }
}

function requests(send: TestApp['fetch']): Pick<TestApp, 'fetch' | 'request' | 'as' | 'key'> {
  const as =
    (key: string): Send =>
    async (method, path, body, headers = {}) => {
      const raw = typeof body === 'string' || body instanceof Uint8Array
      const response = await send(path, {
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
    fetch: send,
    request,
    as,
    async key(tenant, scopes, more = {}) {
      const { body } = await request('POST', `/~${tenant}/api-keys`, { name: scopes, scopes, ...more })
      return body.secret
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
