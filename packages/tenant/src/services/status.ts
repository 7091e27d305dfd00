import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Engine } from '../engine/engine.ts'
import { storageUse } from '../engine/quota.ts'
import { type Grant, may } from '../grant/grant.ts'
import { scopesText } from '../grant/scopes.ts'
import { rowFilterOf } from '../query/read-context.ts'
import { countsByType } from '../store/entities.ts'
import { readEntry } from '../store/log/log.ts'
import { readOrigin } from '../store/log/origin.ts'
import { receivers } from '../store/outgoing/receivers.ts'

/** How a tenant is, and what a key may do. */
export function statusOf(engine: Engine, grant: Grant): JsonObject {
  const { seq, at } = engine.head
  const origin = readOrigin(engine.sql)
  const automation = engine.automation.state(engine.ports.clock.now())
  const { actor, scopes, onBehalfOf, limits } = grant
  return {
    tenant: engine.slug,
    key: {
      id: actor,
      scopes: scopes.map((scope) => scopesText([scope])),
      ...(onBehalfOf && { onBehalfOf }),
      ...(limits && { limits: { ...limits } as JsonObject }),
    },
    log: { seq, at: seq === 0 ? null : isoOf(at) },
    storage: { ...storageUse(engine.sql, engine.options.mostBytes) },
    ...(automation && {
      automation: { ...automation, resumesAt: automation.resumesAt && isoOf(automation.resumesAt) },
    }),
    entities: Object.fromEntries(countsFor(engine, grant)),
    ...unreadableSecrets(engine, grant),
    ...(origin && { origin: { ...origin } }),
  }
}

/**
 * How many webhooks have a secret that was encrypted with another key, as after a restore on another machine. Their
 * deliveries wait until the server has that key, or the secret is replaced.
 */
function unreadableSecrets({ sql, nouns, ports }: Engine, grant: Grant): { readonly unreadableSecrets?: number } {
  if (!may(grant, 'admin', nouns.get('Webhook')!)) return {}
  const count = receivers(sql).filter(({ secret }) => ports.vault.decrypt(secret) === null).length
  return count === 0 ? {} : { unreadableSecrets: count }
}

/** How many entities there are, of the types that the grant may read without a filter. */
function countsFor(engine: Engine, grant: Grant): (readonly [string, number])[] {
  return entitiesByType(engine).filter(([type]) => {
    const noun = engine.nouns.get(type)
    return noun !== undefined && may(grant, 'read', noun) && rowFilterOf(engine, grant, type) === null
  })
}

/** How many entities of each type there are. */
export function entitiesByType(engine: Engine): [type: string, count: number][] {
  return countsByType(engine.sql)
}

/** When the first event was, or null. */
export function firstEventAt(engine: Engine): number | null {
  return readEntry(engine.sql, 1)?.at ?? null
}
