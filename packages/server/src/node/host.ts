import { randomUUID } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { Gateway } from '../gateway.ts'
import { type HttpResponse, hasStreamedBody, json } from '../http.ts'
import { Alarms } from './alarms.ts'
import { loadProgram, type Settings } from './config.ts'
import { consolePages } from './console.ts'
import { docsPage } from './docs.ts'
import { TenantFiles } from './files.ts'
import { createHttp } from './http-server.ts'
import { localTenants } from './local.ts'
import { report } from './log.ts'
import { operator } from './operator.ts'
import { operatorKey, operatorTest } from './root-key.ts'
import { HostObserver } from './watch/observer.ts'
import { WorkerPool } from './workers/worker-pool.ts'

export interface Host {
  readonly url: string
  readonly operator: ReturnType<typeof operatorKey>
  /** Finishes what is under way, refuses what is new, closes every file. */
  stop(): Promise<void>
}

const DRAIN_MS = 10_000

/** Starts a host: opens the data folder, listens, and wakes what was interrupted. */
export async function startHost(settings: Settings): Promise<Host> {
  mkdirSync(settings.data, { recursive: true, mode: 0o700 })
  const rootKey = operatorKey(settings.data, settings.rootKey)
  const files = new TenantFiles(settings.data)
  files.prepare()
  let baseUrl = settings.baseUrl ?? ''
  let stopping = false

  const alarms = new Alarms(join(settings.data, 'alarms.db'), (slug) => tenants.wake(slug))
  const book = alarms.book.bind(alarms)
  const crew = settings.workers > 0 ? new WorkerPool(settings, book) : null
  const tenants =
    crew ?? localTenants(settings, await loadProgram(settings.config), files, { baseUrl: () => baseUrl, book })
  await crew?.start()
  const scratch = join(settings.data, 'scratch')
  rmSync(scratch, { recursive: true, force: true })
  mkdirSync(scratch, { mode: 0o700 })
  const office = { files, scratch, keep: tenants.keep.bind(tenants), unbook: (slug: string) => alarms.book(slug, null) }
  const pages = consolePages()
  const tower = new HostObserver(settings)
  const gateway = new Gateway({
    tenants,
    hostSuffix: settings.hostSuffix,
    isOperator: operatorTest(rootKey.key),
    requestId: randomUUID,
    report,
    watch: tower,
    outside: async (ask, segments, sender) => {
      if (segments[0] === 'operator') return operator(ask, segments, sender, office)
      if (PAGES.has(segments.join('/'))) demandReading(ask.method)
      if (segments.join('/') === 'metrics') return numbersPage(tower.numbers.page(await tenants.stats()))
      return docsPage(ask, segments) ?? pages(ask, segments) ?? outside(segments, stopping)
    },
  })
  const { server, idle } = createHttp({
    gateway,
    isStopping: () => stopping,
    bodyLimit: settings.bodyLimit,
    bodyTimeout: settings.bodyTimeout,
    streams: hasStreamedBody,
    report,
  })
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed)
      server.listen(settings.port, settings.host, done)
    })
  } catch (reason) {
    await tenants.closeAll()
    alarms.close()
    throw reason
  }
  const { port } = server.address() as AddressInfo
  const name = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  const url = `http://${name}:${port}`
  if (baseUrl === '') baseUrl = url
  crew?.begin(baseUrl)
  alarms.start()
  for (const slug of files.interrupted()) tenants.wake(slug).catch((reason) => report(reason, `wake ${slug}`))

  const stop = async () => {
    // From here on new requests are told to come back later, while those under way finish.
    stopping = true
    await tenants.rest()
    await Promise.race([idle(), new Promise((late) => setTimeout(late, DRAIN_MS).unref())])
    const closed = new Promise<void>((done) => server.close(() => done()))
    server.closeAllConnections()
    await closed
    await tenants.closeAll()
    await tower.close()
    alarms.close()
  }
  let stopped: Promise<void> | null = null
  return {
    url,
    operator: rootKey,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** What is there to be read outside tenants. */
const PAGES = new Set(['', 'healthz', 'readyz', 'metrics'])

function demandReading(method: string): void {
  if (method === 'GET' || method === 'HEAD') return
  throw new Problem('method_not_allowed', `${method} is not possible here; GET is.`, { allow: 'GET' })
}

/** What answers outside tenants. */
function outside(segments: readonly string[], stopping: boolean): HttpResponse | null {
  switch (segments.join('/')) {
    case '':
      return json(200, { service: 'Tildebase', tenants: '/~{tenant}', health: '/healthz' })
    case 'healthz':
      return json(200, { status: 'ok' })
    case 'readyz':
      return stopping ? json(503, { status: 'stopping' }, { 'retry-after': '5' }) : json(200, { status: 'ready' })
    default:
      return null
  }
}

function numbersPage(text: string): HttpResponse {
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body: text }
}
