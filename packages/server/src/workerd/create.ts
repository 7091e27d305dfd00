/// <reference path="./cloudflare.d.ts" />
import type { NounMap } from '@tildebase/nouns'
import { fetchResponseOf, httpRequestOf } from '../fetch-adapter.ts'
import { Gateway } from '../gateway.ts'
import { mergingForks } from '../host/fork-merge.ts'
import { operatorPage } from '../host/operator.ts'
import { publicPage } from '../host/pages.ts'
import { systemSeal } from '../host/ports.ts'
import { KEYS_PATH, keysPage } from '../host/signing-keys.ts'
import { identityPage } from '../identity/pages.ts'
import { mcpHosts, readSettings } from '../node/config.ts'
import { type NoNouns, type ProgramOf, programOf } from '../program.ts'
import { DurableTenants } from './durable-tenants.ts'
import type { Env, TenantObjectClass } from './env.ts'
import { report } from './log.ts'
import { tenantObject } from './object.ts'
import { operatorActions } from './operator.ts'
import { publicKeysOf } from './signing.ts'

export { defineProgram, type HookRegistryOf, type ProgramOf } from '../program.ts'
export type { Env, TenantObjectClass, TenantObjects } from './env.ts'

/** What a Worker's program exports: the Worker by default, the class by its name. */
export interface Service {
  readonly worker: { fetch(request: Request, env: Env): Promise<Response> }
  readonly TenantObject: TenantObjectClass
}

/** The service as a Worker and the class of its Durable Objects, with nouns and your own hooks. */
export function createWorker<N extends NounMap = NoNouns>(program: ProgramOf<N> = {}): Service {
  const gateways = new WeakMap<Env, Gateway>()
  const worker = {
    async fetch(request: Request, env: Env): Promise<Response> {
      const gateway = gateways.get(env) ?? gatewayOf(env)
      gateways.set(env, gateway)
      return fetchResponseOf(await gateway.answer(httpRequestOf(request)), request.method)
    },
  }
  return { worker, TenantObject: tenantObject(programOf(program)) }
}

function gatewayOf(env: Env): Gateway {
  const settings = readSettings({}, env as never)
  const { hostSuffix, rootKey } = settings
  const tenants = new DurableTenants(env.TENANTS)
  return new Gateway({
    tenants: mergingForks(tenants, settings.bodyLimit),
    signup: settings.signup,
    hostSuffix,
    mcpHosts: () => mcpHosts(settings),
    pages: (ask, place) =>
      identityPage(ask, place, { baseUrl: settings.baseUrl, passwords: false, oidc: settings.oidc !== null }),
    isOperator: operatorTest(rootKey),
    requestId: () => crypto.randomUUID(),
    report,
    outside: async (request, segments, sender, requestId) => {
      if (segments[0] === 'operator')
        return operatorPage(request, segments, sender, requestId, operatorActions(tenants))
      if (segments.join('/') === KEYS_PATH) return keysPage(request, await publicKeysOf(settings), null)
      return publicPage(request, segments, false)
    },
  })
}

/** Whether a secret is the operator's key, in a time that does not tell how much of it is right. */
function operatorTest(key: string | null): (secret: string) => boolean {
  if (key === null) return () => false
  return (secret) => systemSeal.equal(systemSeal.sha256(secret), systemSeal.sha256(key))
}
