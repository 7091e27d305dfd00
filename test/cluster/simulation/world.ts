import { setFlagsFromString } from 'node:v8'
import { runInThisContext } from 'node:vm'

/** Random numbers that a seed decides. */
export class Chance {
  #state: number

  constructor(seed: number) {
    this.#state = (seed * 0x9e3779b9) | 0
  }

  /** From 0 up to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let t = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }

  below(n: number): number {
    return Math.floor(this.next() * n)
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from)
  }

  is(probability: number): boolean {
    return this.next() < probability
  }

  of<T>(all: readonly T[]): T {
    return all[this.below(all.length)]!
  }
}

interface Due {
  readonly at: number
  readonly order: number
  /** Null when it was cancelled. */
  run: (() => void) | null
}

/** A world with its own time: nothing happens but what is due, one thing after the other. */
export class World {
  readonly chance: Chance
  now = 0
  readonly #heap: Due[] = []
  #order = 0
  #numbers = 0

  constructor(seed: number) {
    this.chance = new Chance(seed)
  }

  /** A number that is not used twice. */
  number(): number {
    return ++this.#numbers
  }

  /** Runs something after so many milliseconds. Returns what cancels it. */
  after(ms: number, run: () => void): Due {
    const due = { at: this.now + Math.max(0, ms), order: this.#order++, run }
    this.#push(due)
    return due
  }

  cancel(due: Due): void {
    due.run = null
  }

  /** Lets time pass until a moment. Between two events all promises that can continue have continued. */
  runUntil(end: number): void {
    while (this.#heap.length > 0 && this.#heap[0]!.at <= end) {
      const { at, run } = this.#pop()
      if (run === null) continue
      this.now = at
      run()
      settle()
    }
    this.now = end
  }

  #push(due: Due): void {
    const heap = this.#heap
    let i = heap.push(due) - 1
    while (i > 0) {
      const parent = (i - 1) >> 1
      if (isBefore(heap[parent]!, due)) break
      heap[i] = heap[parent]!
      i = parent
    }
    heap[i] = due
  }

  #pop(): Due {
    const heap = this.#heap
    const first = heap[0]!
    const last = heap.pop()!
    if (heap.length === 0) return first
    let i = 0
    for (;;) {
      let child = 2 * i + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (isBefore(last, heap[child]!)) break
      heap[i] = heap[child]!
      i = child
    }
    heap[i] = last
    return first
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}

// Not part of the language: waiting for the event loop instead takes most of the time of a history.
setFlagsFromString('--allow-natives-syntax')

/** Lets every promise continue that can. It has no effect in a function that continues after an await. */
const settle = runInThisContext('() => %PerformMicrotaskCheckpoint()') as () => void
