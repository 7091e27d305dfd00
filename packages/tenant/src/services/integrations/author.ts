import type { JsonObject } from '@tildebase/nouns'
import { changes } from '../../authorship/reach.ts'
import { type Authored, authored, demandCovers, store, type Thing } from '../../authorship/stored.ts'
import type { Connector, Mapping } from '../../connect/connector.ts'
import { CONNECTORS } from '../../connect/index.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import type { Write } from '../../write/write.ts'

/** What an integration reads, and where it writes it. */
export interface IntegrationDeclaration {
  readonly connector: Connector
  readonly address: string
  readonly mapping: Mapping
  readonly scope: string | null
}

function thingOf(id: string): Thing {
  return { kind: 'integration', id, actor: `integration:${id}` }
}

/** The fields of an integration that decide what it does. */
function formOf({ provider = null, apiBaseUrl = null, mapping = null, scope = null }: JsonObject): JsonObject {
  return { provider, apiBaseUrl, mapping, scope }
}

/** What an integration does; null for a provider without a connector. */
export function declarationOf(data: JsonObject): IntegrationDeclaration | null {
  const name = String(data.provider ?? '').toLowerCase()
  const connector = Object.hasOwn(CONNECTORS, name) ? CONNECTORS[name] : undefined
  if (!connector) return null
  const address = typeof data.apiBaseUrl === 'string' && data.apiBaseUrl !== '' ? data.apiBaseUrl : connector.apiUrl
  return {
    connector,
    address: address.replace(/\/+$/, ''),
    mapping: (data.mapping ?? connector.mapping) as Mapping,
    scope: typeof data.scope === 'string' ? data.scope : null,
  }
}

/** Makes the caller the author of an integration, if it may write all types that it fills. */
export function storeIntegration(write: Write, id: string, data: JsonObject): void {
  const { mapping } = declarationOf(data)!
  const types = new Set(Object.values(mapping).map(({ type }) => write.engine.noun(type)))
  store(
    write,
    thingOf(id),
    formOf(data),
    [...types].map((noun) => changes(noun, true)),
  )
}

/** An integration with the author who connected it; null when no caller connected it as it is now. */
export function authoredIntegration(engine: Engine, id: string): Authored<IntegrationDeclaration> | null {
  const current = currentOf(engine.sql, 'Integration', id)
  if (!current || current.deleted) return null
  const data = JSON.parse(current.data) as JsonObject
  const declaration = declarationOf(data)
  return declaration && authored(engine, thingOf(id), declaration, formOf(data))
}

/** Refuses to start an integration that can do more than the caller. */
export function demandCoversIntegration(engine: Engine, grant: Grant, id: string): void {
  demandCovers(engine, grant, authoredIntegration(engine, id), 'Integration')
}
