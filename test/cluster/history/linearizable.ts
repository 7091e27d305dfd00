import type { Operation } from './history.ts'

/** The state of one entity: its version, and the value that it was last given. */
interface Register {
  readonly version: number
  readonly value: string
}

/** How many states the search may visit before it gives up. */
const LIMIT = 2_000_000

/**
 * Finds an order of the operations on one entity that agrees with real time and with every answer (Wing and Gong, with
 * the memory of Lowe). Returns null if there is one, or the operation at which every attempt ended.
 */
export function refuteLinearizable(initial: Register, operations: readonly Operation[]): Operation | null {
  const sorted = operations.toSorted((a, b) => a.began - b.began)
  const search = new Search(sorted)
  return search.run(initial)
}

interface Point {
  readonly register: Register
  /** Which operations are placed: one bit each. */
  readonly placed: bigint
  readonly count: number
}

class Search {
  readonly #operations: readonly Operation[]
  readonly #visited = new Set<string>()
  /** The operation that the longest attempt could not place. */
  #obstacle: Operation | null = null
  #longest = -1

  constructor(operations: readonly Operation[]) {
    this.#operations = operations
  }

  run(initial: Register): Operation | null {
    const stack: Point[] = [{ register: initial, placed: 0n, count: 0 }]
    while (stack.length > 0) {
      const point = this.#placeObservers(stack.pop()!)
      const next = this.#successors(point)
      if (next === null) return null
      for (const successor of next) {
        const name = `${successor.placed.toString(36)} ${successor.register.version} ${successor.register.value}`
        if (this.#visited.has(name)) continue
        if (this.#visited.size >= LIMIT) throw new Error(`The history has no verdict after ${LIMIT} states.`)
        this.#visited.add(name)
        stack.push(successor)
      }
    }
    return this.#obstacle
  }

  /** What changes nothing is placed as soon as it fits: placing it later allows no more orders. */
  #placeObservers(start: Point): Point {
    let point = start
    for (const index of this.#enabled(point)) {
      const operation = this.#operations[index]!
      if (isObserver(operation) && apply(point.register, operation) !== null)
        point = { ...point, placed: point.placed | (1n << BigInt(index)), count: point.count + 1 }
    }
    // A placed read may have been all that kept the next one from being enabled.
    return point.count === start.count ? point : this.#placeObservers(point)
  }

  /** The points after one more operation that changes the register, or null when every answer is explained. */
  #successors(point: Point): Point[] | null {
    const enabled = this.#enabled(point)
    const waiting = enabled.filter((index) => this.#operations[index]!.outcome !== 'unknown')
    if (waiting.length === 0) return null
    if (point.count > this.#longest) {
      this.#longest = point.count
      this.#obstacle = waiting.map((index) => this.#operations[index]!).toSorted((a, b) => a.ended - b.ended)[0]!
    }
    return enabled.flatMap((index) => {
      const operation = this.#operations[index]!
      const register = isObserver(operation) ? null : apply(point.register, operation)
      if (register === null) return []
      return [{ register, placed: point.placed | (1n << BigInt(index)), count: point.count + 1 }]
    })
  }

  /** The operations that began before every operation that is not placed yet had ended. */
  #enabled(point: Point): number[] {
    const open: number[] = []
    let firstEnd = Number.POSITIVE_INFINITY
    for (const [index, operation] of this.#operations.entries()) {
      if (operation.began > firstEnd) break
      if (((point.placed >> BigInt(index)) & 1n) === 1n) continue
      open.push(index)
      firstEnd = Math.min(firstEnd, operation.ended)
    }
    return open
  }
}

function isObserver({ action, outcome }: Operation): boolean {
  return action.kind === 'read' || outcome === 'fail'
}

/** The register after the operation, or null if the answer does not fit the register. */
function apply(register: Register, operation: Operation): Register | null {
  const { action, outcome, version, value } = operation
  if (action.kind === 'create') throw new Error('An entity is created before its history begins.')
  if (action.kind === 'read')
    return outcome === 'unknown' || (register.version === version && register.value === value) ? register : null
  if (outcome === 'fail') return action.kind === 'swap' && register.version === action.expected ? null : register
  if (action.kind === 'swap' && register.version !== action.expected) return null
  const after = { version: register.version + 1, value: action.value }
  return outcome === 'ok' && after.version !== version ? null : after
}
