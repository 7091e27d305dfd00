import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Declaration, type NounMap, Problem } from '@tildebase/nouns'
import { Gateway } from '../doors/gateway.ts'
import type { Step } from '../doors/plan/step.ts'
import { slugOf } from '../doors/target.ts'
import { fetchResponseOf, httpRequestOf, withBody } from '../host/fetch-adapter.ts'
import { type NoNouns, type ProgramOf, programOf } from '../host/program.ts'
import { readSettings } from '../host/settings/settings.ts'
import { loadFolder } from './folder/load.ts'
import { report } from './log.ts'
import type { MovedClock } from './moved-clock.ts'
import { operatorTest } from './secrets/keys.ts'
import { SigningKeyFile } from './secrets/signing-key-file.ts'
import { TenantFiles } from './sqlite/files.ts'
import { Alarms } from './tenants/alarms.ts'
import { localTenants } from './tenants/local.ts'

export interface LocalOptions<N extends NounMap = NoNouns> extends ProgramOf<N> {
  /** The name of the tenant; `local` by default. */
  readonly tenant?: string
  /** A data folder, the same that a server takes; without one the tenant is in memory and ends with the program. */
  readonly path?: string
  /** A folder of declarations, such as `tilde`: the tenant gets the types, roles, hooks and workflows in it. */
  readonly folder?: string
  /** The time of the tenant: a `MovedClock` runs timers and workflows when it is moved. */
  readonly clock?: MovedClock
  /** True allows webhooks, requests and mail servers without TLS and on this machine, such as a receiver in a test. */
  readonly insecure?: boolean
}

/** A tenant in this process. It is what `tildebase` takes: `const $ = tildebase(local)` knows the nouns too. */
export interface LocalTildebase<N extends NounMap = NoNouns> {
  readonly tenant: string
  readonly nouns: N
  /** A key that may do everything here, made up for this run. */
  readonly apiKey: string
  /** Answers as a server would, without a port: hand it to `tildebase({ fetch })`. */
  fetch(url: string, init?: RequestInit): Promise<Response>
  close(): Promise<void>
}

const BASE_URL = 'http://localhost:8787'

/** Runs the engine for one tenant in this process, on a data folder or in memory. One process at a time may do so. */
export async function localTildebase<N extends NounMap = NoNouns>(
  options: LocalOptions<N> = {},
): Promise<LocalTildebase<N>> {
  const { tenant = 'local', path, nouns = {} as N, hooks, folder, clock, insecure = false } = options
  const slug = slugOf(tenant)
  const lock = path === undefined ? null : lockOf(path)
  const files = path === undefined ? new MemoryFiles() : new TenantFiles(path)
  files.prepare()
  const given = { ...readSettings({ data: path }, {}), webhooksInsecure: insecure }
  // In memory nothing outlives the program, and neither do its keys.
  const ownKeys = () => ({ secretKey: crypto.randomUUID(), signingKey: crypto.getRandomValues(new Uint8Array(32)) })
  const settings = path === undefined ? { ...given, ...ownKeys() } : given
  await new SigningKeyFile(settings).prepare()
  const tenants = localTenants(settings, programOf({ nouns, hooks }), files, {
    baseUrl: () => BASE_URL,
    // What is due when the tenant is closed is found to be due when it is opened again.
    book: () => {},
    clock,
  })
  const apiKey = `tblocal_${crypto.randomUUID()}`
  const gateway = new Gateway({
    tenants,
    signup: false,
    hostSuffix: settings.hostSuffix,
    isOperator: operatorTest(apiKey),
    requestId: () => crypto.randomUUID(),
    report,
    outside: () => null,
  })
  await tenants.wake(slug)
  const unfollow = clock?.follow({
    due: () => tenants.due(slug),
    run: async () => {
      await tenants.wake(slug)
      await tenants.quiet(slug)
    },
  })
  const local: LocalTildebase<N> = {
    tenant: slug,
    nouns,
    apiKey,
    async fetch(url, init) {
      const request = new Request(url, init)
      const ask = await withBody(httpRequestOf(request), settings.bodyLimit)
      if (!ask.path.split('/').includes(`~${slug}`)) throw elsewhere(slug)
      return until(request.signal, fetchResponseOf(await gateway.answer(ask), ask.method))
    },
    async close() {
      unfollow?.()
      await tenants.close()
      lock?.close()
    },
  }
  if (folder !== undefined) await declare(local, (await loadFolder(folder)).declaration)
  return local
}

/** Makes a tenant as declared: the requests of the plan, in order. */
async function declare({ tenant, apiKey, fetch }: LocalTildebase, declaration: Declaration): Promise<void> {
  const send = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
    const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
    const response = await fetch(`${BASE_URL}/~${tenant}${path}`, init)
    const answer = response.status === 204 ? null : await response.json()
    if (response.ok) return answer
    throw new Problem(answer.error, answer.message, answer)
  }
  const { steps } = (await send('POST', '/schema/plan', declaration)) as { readonly steps: readonly Step[] }
  for (const { request } of steps) await send(request.method, request.path, request.body)
}

/** Keeps other processes from a data folder, as a server does, and refuses one that is in use. */
function lockOf(data: string): Alarms {
  try {
    mkdirSync(data, { recursive: true, mode: 0o700 })
    return new Alarms(join(data, 'alarms.db'), async () => {})
  } catch (reason) {
    if (!/database is locked/.test((reason as Error).message)) throw reason
    throw new Problem('unavailable', `Another process uses the data folder ${data}. Stop it first, or choose another.`)
  }
}

/** The files of tenants that are on no disk. */
class MemoryFiles extends TenantFiles {
  readonly #slugs = new Set<string>()

  constructor() {
    super('')
  }

  override prepare(): void {}
  override pathOf(): string {
    return ':memory:'
  }
  override has(slug: string): boolean {
    return this.#slugs.has(slug)
  }
  override comparing(): null {
    return null
  }
  override beginUse(): null {
    return null
  }
  override endUse(): void {}
  /** The tenant decides: it is always open. */
  override hasKey(): boolean {
    return true
  }
  override create(slug: string): void {
    this.#slugs.add(slug)
  }
  override begin(slug: string): void {
    this.#slugs.add(slug)
  }
  override remove(slug: string): void {
    this.#slugs.delete(slug)
  }
}

/** A response whose body breaks off when the request is given up, as one from a server would. */
function until(signal: AbortSignal, response: Response): Response {
  if (response.body === null) return response
  return new Response(response.body.pipeThrough(new TransformStream(), { signal }), response)
}

function elsewhere(slug: string): Problem {
  return new Problem('unreachable', `Only the tenant ${slug} is open in this process.`)
}
