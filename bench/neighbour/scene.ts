import { createWriteStream } from 'node:fs'
import { connect } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** Where an attack happens: a service, the attacking tenant with its own key, and when to stop. */
export interface Place {
  readonly url: string
  readonly data: string
  readonly operatorKey: string
  readonly attacker: string
  readonly key: string
}

export interface Scene extends Place {
  readonly signal: AbortSignal
  /** One request of the attacker. Returns its status, or 0 when the connection was closed. */
  ask(method: string, path: string, body?: unknown, type?: string): Promise<number>
  /** The same by the operator, for any path. */
  operator(method: string, path: string, body?: unknown, type?: string): Promise<number>
  /** Writes what the operator gets for a path to a file. */
  download(path: string, file: string): Promise<void>
  /** A new key of the attacker. */
  keyOf(): Promise<string>
  /** A socket to the service that sends what it is given, and drops what comes. */
  socket(text: string, onAnswer?: (socket: AttackSocket) => void): AttackSocket
}

interface AttackSocket {
  send(text: string): void
  close(): void
}

/** What one tenant can do to the others. */
export interface Attack {
  readonly name: string
  readonly env?: Record<string, string>
  /** Fills the attacking tenant; takes as long as it takes. */
  prepare?(scene: Scene): Promise<void>
  /** Attacks until the signal comes. */
  run(scene: Scene): Promise<void>
}

export function sceneOf(place: Place, signal: AbortSignal): Scene {
  const { hostname, port } = new URL(place.url)
  const send = async (key: string, method: string, path: string, body: unknown, type = 'application/json') => {
    const isRaw = body === undefined || typeof body === 'string' || body instanceof Blob
    const text = isRaw ? (body as string | Blob | undefined) : JSON.stringify(body)
    try {
      const response = await fetch(`${place.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, ...(text !== undefined && { 'content-type': type }) },
        ...(text !== undefined && { body: text }),
        signal,
      })
      await response.body?.pipeTo(new WritableStream())
      return response.status
    } catch {
      return 0
    }
  }
  return {
    ...place,
    signal,
    ask: (method, path, body, type) => send(place.key, method, `/~${place.attacker}${path}`, body, type),
    operator: (method, path, body, type) => send(place.operatorKey, method, path, body, type),
    async download(path, file) {
      const headers = { authorization: `Bearer ${place.operatorKey}` }
      const response = await fetch(`${place.url}${path}`, { headers })
      if (!response.ok) throw new Error(`${path} was answered with ${response.status}.`)
      await pipeline(Readable.fromWeb(response.body as never), createWriteStream(file))
    },
    keyOf: () => keyOf(place.url, place.operatorKey, place.attacker),
    socket(text, onAnswer) {
      const socket = connect(Number(port), hostname)
      const own = {
        send: (more: string) => void (socket.writable && socket.write(more)),
        close: () => void socket.destroy(),
      }
      socket.on('error', () => {})
      socket.on('data', () => onAnswer?.(own))
      socket.write(text)
      signal.addEventListener('abort', own.close)
      return own
    },
  }
}

/** A new key of a tenant with all rights. */
export async function keyOf(url: string, operatorKey: string, tenant: string): Promise<string> {
  const response = await fetch(`${url}/~${tenant}/api-keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', scopes: 'admin:all' }),
  })
  return ((await response.json()) as { secret: string }).secret
}

/** Repeats work, so many times at once, until the signal comes. */
export async function endlessly(
  signal: AbortSignal,
  width: number,
  work: (i: number) => Promise<unknown>,
): Promise<void> {
  let i = 0
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (!signal.aborted) {
        await work(i++)
        // What is refused at once is not asked again in the same turn.
        await new Promise((done) => setImmediate(done))
      }
    }),
  )
}

export function pause(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms))
}

/** Imports so many rows as the operator. */
export async function load(scene: Scene, type: string, count: number, row: (i: number) => object): Promise<void> {
  const SLICE = 20_000
  for (let from = 0; from < count; from += SLICE) {
    const rows = Array.from({ length: Math.min(SLICE, count - from) }, (_, i) => JSON.stringify(row(from + i)))
    const path = `/~${scene.attacker}/import/${type}`
    const status = await scene.operator('POST', path, rows.join('\n'), 'application/x-ndjson')
    if (status !== 200) throw new Error(`Loading ${type} was answered with ${status}.`)
  }
}
