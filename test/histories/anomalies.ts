import { Dependencies, findCycles } from './cycles.ts'
import type { Anomaly, Transaction } from './transaction.ts'

/**
 * Looks for anomalies in a history of transactions on lists, as Elle does: a list that was read shows the order of the
 * appends to it, and so which transactions come before which. A history is strictly serializable if nothing is found and
 * the last transaction reads all lists.
 */
export function findAnomalies(history: readonly Transaction[]): Anomaly[] {
  const writers = writersOf(history)
  const reads = readsOf(history)
  const orders = ordersOf(reads)
  return [
    ...history.filter(({ outcome }) => outcome === 'ok').flatMap(judgeAlone),
    ...reads.flatMap((read) => judgeRead(read, writers)),
    ...judgeOrders(reads, orders),
    ...history.flatMap((transaction) => judgeOwnOrder(transaction, orders)),
    ...lostUpdates(reads),
    ...findCycles(dependenciesOf(history, reads, orders, writers)),
  ]
}

/** A list that a transaction read, and how many of the last numbers in it are its own. */
interface Read {
  readonly by: Transaction
  readonly key: string
  readonly list: readonly number[]
  readonly own: number
  /** Whether the transaction appends to the list afterwards. */
  readonly isUpdated: boolean
}

type Writers = ReadonlyMap<number, Transaction>

function writersOf(history: readonly Transaction[]): Writers {
  const writers = new Map<number, Transaction>()
  for (const transaction of history) {
    for (const step of transaction.steps) {
      if (step.kind !== 'append') continue
      if (writers.has(step.value)) throw new Error(`The workload appends ${step.value} twice.`)
      writers.set(step.value, transaction)
    }
  }
  return writers
}

function readsOf(history: readonly Transaction[]): Read[] {
  return history.flatMap((by) => {
    if (by.outcome !== 'ok') return []
    const own = new Map<string, number>()
    return by.steps.flatMap((step, at): Read[] => {
      const { key } = step
      if (step.kind === 'append') own.set(key, (own.get(key) ?? 0) + 1)
      if (step.kind === 'append' || step.list === null) return []
      const isUpdated = by.steps.slice(at).some((later) => later.kind === 'append' && later.key === key)
      return [{ by, key, list: step.list, own: own.get(key) ?? 0, isUpdated }]
    })
  })
}

/** The longest list of each key: all others must be the beginning of it. */
function ordersOf(reads: readonly Read[]): ReadonlyMap<string, readonly number[]> {
  const orders = new Map<string, readonly number[]>()
  for (const { key, list } of reads) if (list.length >= (orders.get(key)?.length ?? 0)) orders.set(key, list)
  return orders
}

/** A transaction must see what it has seen before, followed by what it appended, and nothing that it appends later. */
function judgeAlone({ name, steps }: Transaction): Anomaly[] {
  const known = new Map<string, { readonly isWhole: boolean; readonly list: readonly number[] }>()
  return steps.flatMap((step, at): Anomaly[] => {
    const { isWhole, list } = known.get(step.key) ?? { isWhole: false, list: [] }
    if (step.kind === 'append') {
      known.set(step.key, { isWhole, list: [...list, step.value] })
      return []
    }
    if (step.list === null) return []
    known.set(step.key, { isWhole: true, list: step.list })
    const seen = isWhole || list.length === 0 ? step.list : step.list.slice(-list.length)
    const { list: read } = step
    const isEarly = steps.slice(at).some((later) => later.kind === 'append' && read.includes(later.value))
    if (((list.length === 0 && !isWhole) || isSame(seen, list)) && !isEarly) return []
    return [{ kind: 'internal', message: `${name} read ${shown(step.key, read)} and expects ${list}` }]
  })
}

function judgeRead({ by, key, list, own }: Read, writers: Writers): Anomaly[] {
  const what = `${by.name} read ${shown(key, list)}`
  const anomalies: Anomaly[] = []
  if (new Set(list).size < list.length) anomalies.push({ kind: 'duplicate', message: what })
  for (const value of list) {
    const writer = writers.get(value)
    const isOfKey = writer?.steps.some((step) => step.kind === 'append' && step.key === key && step.value === value)
    if (writer === undefined || !isOfKey)
      anomalies.push({ kind: 'garbage', message: `${what}: ${value} was never appended to it` })
    else if (writer.outcome === 'fail')
      anomalies.push({ kind: 'G1a', message: `${what}: ${value} is of ${writer.name}, which failed` })
  }
  const last = list.at(-1 - own)
  const writer = last === undefined ? undefined : writers.get(last)
  const appended = writer?.steps.flatMap((step) => (step.kind === 'append' && step.key === key ? step.value : []))
  if (writer !== undefined && writer !== by && appended!.at(-1) !== last)
    anomalies.push({ kind: 'G1b', message: `${what}: ${writer.name} had not appended all of ${appended}` })
  return anomalies
}

function judgeOrders(reads: readonly Read[], orders: ReadonlyMap<string, readonly number[]>): Anomaly[] {
  return reads.flatMap(({ by, key, list }) => {
    const order = orders.get(key)!
    if (isSame(list, order.slice(0, list.length))) return []
    return [{ kind: 'incompatible-order', message: `${by.name} read ${shown(key, list)}, and another read ${order}` }]
  })
}

/** The appends of a transaction are in the order of its steps. */
function judgeOwnOrder({ name, steps }: Transaction, orders: ReadonlyMap<string, readonly number[]>): Anomaly[] {
  const last = new Map<string, number>()
  return steps.flatMap((step): Anomaly[] => {
    const order = orders.get(step.key) ?? []
    const at = step.kind === 'append' ? order.indexOf(step.value) : -1
    if (at === -1) return []
    const isLater = at > (last.get(step.key) ?? -1)
    last.set(step.key, at)
    return isLater
      ? []
      : [{ kind: 'reordered', message: `${shown(step.key, order)} has the appends of ${name} reversed` }]
  })
}

/** Transactions that read the same version and appended to it: one of them has not seen the other. */
function lostUpdates(reads: readonly Read[]): Anomaly[] {
  const seen = new Map<string, Read>()
  return reads.flatMap((read): Anomaly[] => {
    const { by, key, list, own, isUpdated } = read
    if (!isUpdated || own > 0) return []
    const version = shown(key, list)
    const other = seen.get(version)
    seen.set(version, read)
    if (other === undefined || other.by === by) return []
    return [{ kind: 'lost-update', message: `${other.by.name} and ${by.name} both read ${version} and appended to it` }]
  })
}

function dependenciesOf(
  history: readonly Transaction[],
  reads: readonly Read[],
  orders: ReadonlyMap<string, readonly number[]>,
  writers: Writers,
): Dependencies {
  const graph = new Dependencies()
  const observed = new Set([...orders.values()].flat().map((value) => writers.get(value)))
  const done = history.filter((one) => one.outcome === 'ok' || (one.outcome === 'unknown' && observed.has(one)))
  const nodes = new Map(done.map((one) => [one, graph.add(one.name)]))
  const writerOf = (value: number | undefined) =>
    value === undefined ? undefined : nodes.get(writers.get(value) as Transaction)
  for (const order of orders.values()) {
    for (let at = 1; at < order.length; at++) {
      const [from, to] = [writerOf(order[at - 1]), writerOf(order[at])]
      if (from !== undefined && to !== undefined) graph.connect(from, to, 'ww')
    }
  }
  const unseen = unseenAppends(done, orders)
  for (const { by, key, list, own } of reads) {
    const reader = nodes.get(by)!
    const from = writerOf(list.at(-1 - own))
    if (from !== undefined) graph.connect(from, reader, 'wr')
    const order = orders.get(key)!
    const next = writerOf(order[list.length])
    if (next !== undefined) graph.connect(reader, next, 'rw')
    // No read shows where these are. They come after all that was read.
    if (list.length === order.length)
      for (const writer of unseen.get(key) ?? []) graph.connect(reader, nodes.get(writer)!, 'rw')
  }
  connectTimes(graph, nodes)
  return graph
}

/** Appends that happened and that no read shows, by key. */
function unseenAppends(
  done: readonly Transaction[],
  orders: ReadonlyMap<string, readonly number[]>,
): ReadonlyMap<string, readonly Transaction[]> {
  const unseen = new Map<string, Transaction[]>()
  const seen = new Map([...orders].map(([key, order]) => [key, new Set(order)]))
  for (const transaction of done) {
    for (const step of transaction.steps) {
      if (step.kind !== 'append' || seen.get(step.key)?.has(step.value)) continue
      unseen.set(step.key, [...(unseen.get(step.key) ?? []), transaction])
    }
  }
  return unseen
}

/** Moments are between what had ended and what began later: an edge for each pair would be too many. */
function connectTimes(graph: Dependencies, nodes: ReadonlyMap<Transaction, number>): void {
  const ended = [...nodes].filter(([one]) => one.outcome === 'ok').toSorted(([a], [b]) => a.ended - b.ended)
  const begun = [...nodes].toSorted(([a], [b]) => a.began - b.began)
  let moment: number | null = null
  let next = 0
  for (const [one, node] of begun) {
    for (; next < ended.length && ended[next]![0].ended < one.began; next++) {
      const later = graph.add(null)
      if (moment !== null) graph.connect(moment, later, 'time')
      graph.connect(ended[next]![1], later, 'time')
      moment = later
    }
    if (moment !== null) graph.connect(moment, node, 'time')
  }
}

function isSame(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((value, index) => value === b[index])
}

function shown(key: string, list: readonly number[]): string {
  return `${key} as [${list}]`
}
