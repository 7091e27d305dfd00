import { CLIENTS, type Reply, send } from './nodes.ts'

export interface Measured {
  readonly rate: number
  readonly median: number
}

/** Requests a second, and their median in milliseconds, with many clients at once. */
async function measure(seconds: number, one: (i: number) => Promise<Reply>): Promise<Measured> {
  const end = performance.now() + seconds * 1_000
  const times: number[] = []
  let i = 0
  const client = async () => {
    while (performance.now() < end) {
      const begun = performance.now()
      const { status, text } = await one(i++)
      if (status >= 300) throw new Error(`The answer was ${status}: ${text}`)
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  return { rate: times.length / seconds, median: medianOf(times) }
}

let made = 0

/** Creates of one contact each, in turns in each of these tenants. */
export function creates(seconds: number, places: readonly { port: number; tenant: string }[]): Promise<Measured> {
  return measure(seconds, (i) => {
    const { port, tenant } = places[i % places.length]!
    const n = ++made
    return send(port, 'POST', `/~${tenant}/Contact`, { name: `Person ${n}`, email: `p${n}@x.de`, leadScore: n % 100 })
  })
}

/** Reads of one contact. */
export async function reads(seconds: number, port: number, tenant: string): Promise<Measured> {
  const { text } = await send(port, 'POST', `/~${tenant}/Contact`, { name: 'Ada' })
  const path = `/~${tenant}/Contact/${JSON.parse(text).$id}`
  return measure(seconds, () => send(port, 'GET', path))
}

export function medianOf(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
}

/** Runs work on all items, some at a time. */
export async function inParallel<T>(
  items: readonly T[],
  work: (item: T) => Promise<unknown>,
  most = 16,
): Promise<void> {
  const left = [...items]
  const next = async () => {
    for (let item = left.shift(); item !== undefined; item = left.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: most }, next))
}
