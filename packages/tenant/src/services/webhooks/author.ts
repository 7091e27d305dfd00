import type { JsonObject } from '@tildebase/nouns'
import { type Authored, authored, demandCovers, store, type Thing } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { currentOf } from '../../store/entities.ts'
import type { Write } from '../../write/write.ts'

/** What decides which events a webhook sends, and where to. */
export interface WebhookDeclaration {
  readonly url: string
  readonly events: readonly string[]
  readonly filter?: JsonObject
}

/** A webhook as a stored thing. */
export function webhookThing(id: string): Thing {
  return { kind: 'webhook', id, actor: id }
}

/** The declaration in the state of a webhook. */
export function webhookForm({ url = null, events = null, filter = null }: JsonObject): JsonObject {
  return { url, events, filter }
}

/** A webhook with the author who stored its declaration; null when no caller did. */
export function authoredWebhook(engine: Engine, id: string, data: JsonObject): Authored<WebhookDeclaration> | null {
  return authored(engine, webhookThing(id), data as unknown as WebhookDeclaration, webhookForm(data))
}

/** Makes the caller the author of a webhook. It receives no more than its author may read, so it reaches nothing else. */
export function storeWebhook(write: Write, id: string, data: JsonObject): void {
  store(write, webhookThing(id), webhookForm(data), [])
}

/** Refuses a caller that would change, redirect or repeat what a webhook with more rights receives. */
export function demandCoversWebhook(engine: Engine, grant: Grant, id: string): void {
  const current = currentOf(engine.sql, 'Webhook', id)
  if (!current) return
  demandCovers(engine, grant, authoredWebhook(engine, id, JSON.parse(current.data) as JsonObject), 'Webhook')
}
