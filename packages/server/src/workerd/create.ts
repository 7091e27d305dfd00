/// <reference path="./cloudflare.d.ts" />
import type { NounMap } from '@tildebase/nouns'
import { Gateway } from '../doors/gateway.ts'
import type { HttpRequest } from '../doors/http.ts'
import { identityPages } from '../doors/identity/pages/pages.ts'
import type { Connection } from '../doors/limits/admission.ts'
import { refusal } from '../doors/respond.ts'
import { notAHost } from '../doors/target.ts'
import { fetchResponseOf, httpRequestOf } from '../host/fetch-adapter.ts'
import { operatorPages } from '../host/operator.ts'
import { publicPage } from '../host/pages.ts'
import { systemSeal } from '../host/ports.ts'
import { type NoNouns, type ProgramOf, programOf } from '../host/program.ts'
import { KEYS_PATH, keysPage } from '../host/proof/signing-keys.ts'
import { mcpHosts, readSettings } from '../host/settings/settings.ts'
import { Directory, DirectoryObject } from './directory.ts'
import { DurableTenants } from './durable-tenants.ts'
import type { Env, TenantObjectClass } from './env.ts'
import { report } from './log.ts'
import { tenantObject } from './object/object.ts'
import { workerOperator } from './operator/operator.ts'
import { assetPage } from './pages.ts'
import { publicKeysOf, secretOf } from './signing.ts'

export { defineProgram, type HookRegistryOf, type ProgramOf } from '../host/program.ts'
export type { DirectoryObject } from './directory.ts'
export type { Env, ObjectNamespace, TenantObjectClass } from './env.ts'

/** What a Worker's program exports: the Worker by default, the classes by their names. */
export interface Service {
  readonly worker: { fetch(request: Request, env: Env): Promise<Response> }
  readonly TenantObject: TenantObjectClass
  readonly TenantDirectory: typeof DirectoryObject
}

/** The service as a Worker and the classes of its Durable Objects, with nouns and your own hooks. */
export function createWorker<N extends NounMap = NoNouns>(program: ProgramOf<N> = {}): Service {
  const gateways = new WeakMap<Env, Gateway>()
  const worker = {
    async fetch(request: Request, env: Env): Promise<Response> {
      // The platform makes the address of the Host header, as it came.
      if (!URL.canParse(request.url))
        return fetchResponseOf(refusal(notAHost(), crypto.randomUUID(), report), request.method)
      const page = env.ASSETS ? await assetPage(request, env.ASSETS) : null
      if (page) return page
      const gateway = gateways.get(env) ?? gatewayOf(env)
      gateways.set(env, gateway)
      return fetchResponseOf(await gateway.answer(httpRequestOf(request), connectionOf(request)), request.method)
    },
  }
  return { worker, TenantObject: tenantObject(programOf(program)), TenantDirectory: DirectoryObject }
}

function gatewayOf(env: Env): Gateway {
  const settings = readSettings({}, env as never)
  const { hostSuffix, rootKey } = settings
  // Without it nothing is answered.
  secretOf(settings)
  const directory = env.DIRECTORY ? new Directory(env.DIRECTORY) : null
  const tenants = new DurableTenants(env.TENANTS, { signup: settings.signup, directory, rate: env.RATE })
  const operatorPage = operatorPages(workerOperator(tenants, directory))
  return new Gateway({
    tenants,
    signup: settings.signup,
    hostSuffix,
    ...(env.ASSETS && { home: '/console' }),
    mcpHosts: () => mcpHosts(settings),
    pages: identityPages({
      baseUrl: settings.baseUrl,
      passwords: env.LOADER !== undefined,
      oidc: settings.oidc !== null,
    }),
    isOperator: operatorTest(rootKey),
    requestId: () => crypto.randomUUID(),
    report,
    outside: async (request, segments, sender, requestId) => {
      if (segments[0] === 'operator') return operatorPage(request, segments, sender, requestId)
      if (segments.join('/') === KEYS_PATH) return keysPage(request, await publicKeysOf(settings), null)
      return publicPage(request, segments, false)
    },
  })
}

/** The connection of a request, with the address that the platform saw. */
function connectionOf(request: Request): Connection | null {
  const address = request.headers.get('cf-connecting-ip')
  if (address === null) return null
  return { address, readBody: () => request.body as HttpRequest['body'], onClose: () => {}, onEnd: () => {} }
}

/** Whether a secret is the operator's key, in a time that does not tell how much of it is right. */
function operatorTest(key: string | null): (secret: string) => boolean {
  if (key === null) return () => false
  return (secret) => systemSeal.equal(systemSeal.sha256(secret), systemSeal.sha256(key))
}
