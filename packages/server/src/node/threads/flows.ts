import type { Transferable } from 'node:worker_threads'
import { Problem } from '@tildebase/nouns'
import { problemOf } from '../../doors/respond.ts'
import { giveOwn, markOwn } from '../own-bytes.ts'
import type { Chunk, Flow, Refusal } from './messages.ts'

/** The line to the other thread. */
interface Line {
  send(message: Flow, transfer?: Transferable): void
  /** The newest message that has not left yet. */
  readonly last: { readonly do: string } | undefined
}

/** How far a writer may run ahead of its reader. */
const WINDOW = 262_144
/** A reader tells of its room in steps: a word for every small chunk would cost more than the chunk. */
const STEP = WINDOW / 4

/** The streams between two threads, each no faster than its reader. */
export class Flows {
  readonly #line: Line
  readonly #reading = new Map<number, Inflow>()
  readonly #writing = new Map<number, Outflow>()

  constructor(line: Line) {
    this.#line = line
  }

  /** Sends a stream to the other thread, as its reader there takes it. */
  pour(id: number, source: AsyncIterable<Chunk>): void {
    const outflow = new Outflow(id, source[Symbol.asyncIterator](), this.#line)
    this.#writing.set(id, outflow)
    void outflow.run().finally(() => this.#writing.delete(id))
  }

  /** The stream that the other thread pours under this id. Read it once, or return it. */
  drink(id: number): Inflow {
    const inflow = new Inflow(id, this.#line, () => this.#reading.delete(id))
    this.#reading.set(id, inflow)
    return inflow
  }

  receive(message: Flow): void {
    switch (message.do) {
      case 'chunk':
        if (typeof message.chunk !== 'string' && message.ids.length === 1) markOwn(message.chunk)
        for (const id of message.ids) this.#reading.get(id)?.push(message.chunk)
        break
      case 'end':
        this.#reading.get(message.id)?.end(null)
        break
      case 'break':
        this.#reading.get(message.id)?.end(problemFrom(message.problem))
        break
      case 'more':
        this.#writing.get(message.id)?.allow(message.bytes)
        break
      case 'cancel':
        this.#writing.get(message.id)?.cancel()
    }
  }

  /** Ends every stream: the other thread is no more. */
  breakAll(reason: Problem): void {
    for (const inflow of this.#reading.values()) inflow.end(reason)
    for (const outflow of this.#writing.values()) outflow.cancel()
  }
}

/** The reading end. */
export class Inflow implements AsyncIterableIterator<Chunk> {
  readonly #id: number
  readonly #line: Line
  readonly #done: () => void
  readonly #chunks: Chunk[] = []
  /** Bytes that were read and not acknowledged yet. */
  #taken = 0
  #ended = false
  #fault: Problem | null = null
  #wake: (() => void) | null = null

  constructor(id: number, line: Line, done: () => void) {
    this.#id = id
    this.#line = line
    this.#done = done
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async next(): Promise<IteratorResult<Chunk>> {
    while (this.#chunks.length === 0 && !this.#ended) {
      await new Promise<void>((wake) => {
        this.#wake = wake
      })
    }
    const chunk = this.#chunks.shift()
    if (chunk !== undefined) {
      this.#taken += chunk.length
      if (this.#taken >= STEP && !this.#ended) {
        this.#line.send({ do: 'more', id: this.#id, bytes: this.#taken })
        this.#taken = 0
      }
      return { done: false, value: chunk }
    }
    if (this.#fault) throw this.#fault
    return { done: true, value: undefined }
  }

  async return(): Promise<IteratorResult<Chunk>> {
    if (!this.#ended) this.#line.send({ do: 'cancel', id: this.#id })
    this.#chunks.length = 0
    this.end(null)
    return { done: true, value: undefined }
  }

  push(chunk: Chunk): void {
    this.#chunks.push(chunk)
    this.#wake?.()
  }

  end(fault: Problem | null): void {
    if (this.#ended) return
    this.#ended = true
    this.#fault = fault
    this.#done()
    this.#wake?.()
  }
}

/** The writing end. */
class Outflow {
  readonly #id: number
  readonly #source: AsyncIterator<Chunk>
  readonly #line: Line
  #credit = WINDOW
  #cancelled = false
  #wake: (() => void) | null = null

  constructor(id: number, source: AsyncIterator<Chunk>, line: Line) {
    this.#id = id
    this.#source = source
    this.#line = line
  }

  async run(): Promise<void> {
    try {
      for (let next = await this.#source.next(); !next.done; next = await this.#source.next()) {
        if (this.#cancelled) return
        this.#credit -= next.value.length
        this.#write(next.value)
        while (this.#credit <= 0 && !this.#cancelled) await new Promise<void>((wake) => (this.#wake = wake))
        if (this.#cancelled) return
      }
      this.#line.send({ do: 'end', id: this.#id })
    } catch (reason) {
      if (!this.#cancelled) this.#line.send({ do: 'break', id: this.#id, problem: refusalOf(reason) })
    }
  }

  allow(bytes: number): void {
    this.#credit += bytes
    this.#wake?.()
  }

  cancel(): void {
    this.#cancelled = true
    void this.#source.return?.()
    this.#wake?.()
  }

  #write(chunk: Chunk): void {
    const { last } = this.#line
    const memory = typeof chunk === 'string' ? null : giveOwn(chunk)
    if (memory !== null) this.#line.send({ do: 'chunk', ids: [this.#id], chunk }, memory)
    else if (isChunk(last) && last.chunk === chunk) last.ids.push(this.#id)
    // Bytes of their own are copied on the way; a view into a pool would take the whole pool along.
    else if (typeof chunk === 'string' || chunk.length === chunk.buffer.byteLength)
      this.#line.send({ do: 'chunk', ids: [this.#id], chunk })
    else {
      const bytes = ownBytes(chunk)
      this.#line.send({ do: 'chunk', ids: [this.#id], chunk: bytes }, bytes.buffer as ArrayBuffer)
    }
  }
}

function isChunk(message: { readonly do: string } | undefined): message is Extract<Flow, { do: 'chunk' }> {
  return message?.do === 'chunk'
}

/** Bytes that may be given away: a view into a pool would take the whole pool along. */
export function ownBytes(bytes: Uint8Array): Uint8Array {
  return Uint8Array.prototype.slice.call(bytes)
}

export function refusalOf(reason: unknown): Refusal {
  const { code, message, about } = problemOf(reason)
  return { code, message, about }
}

export function problemFrom({ code, message, about }: Refusal): Problem {
  return new Problem(code, message, about)
}
