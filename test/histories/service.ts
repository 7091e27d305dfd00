import { setTimeout as pause } from 'node:timers/promises'
import { ROOT } from '../root-key.ts'
import type { Shown } from './list-query.ts'
import type { LoggedEvent } from './replay.ts'

/** The service while it is tested: where it answers at the moment. */
export interface Service {
  readonly urls: () => readonly string[]
}

/** An answer; null when none came. */
export type Reply = { readonly status: number; readonly body: any } | null

export async function send(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${ROOT}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  } catch {
    return null
  }
}

/** Sends a request until it is answered by more than an error of the service. For what may happen twice. */
export async function insist(service: Service, method: string, path: string, body?: unknown): Promise<any> {
  for (let tries = 0; tries < 600; tries++) {
    const urls = service.urls()
    const reply = await send(urls[tries % urls.length]!, method, path, body)
    if (reply !== null && reply.status < 300) return reply.body
    if (reply !== null && reply.status < 500) throw new Error(`${method} ${path}: ${JSON.stringify(reply)}`)
    await pause(100)
  }
  throw new Error(`${method} ${path} was not answered.`)
}

/** All events of a tenant. */
export async function logOf(service: Service, tenant: string): Promise<LoggedEvent[]> {
  const log: LoggedEvent[] = []
  for (let cursor = 0; ; ) {
    const { results, hasMore, ...page } = await insist(service, 'GET', `/~${tenant}/events?limit=1000&cursor=${cursor}`)
    for (const { seq, entityType, entityId, verb, correlation, data } of results)
      log.push({
        ...{ seq, type: entityType, entity: entityId, verb },
        ...{ correlation: correlation ?? null, data: data as Shown },
      })
    if (!hasMore) return log
    cursor = page.cursor
  }
}
