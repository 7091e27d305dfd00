import type { HttpResponse } from '../../doors/http.ts'

type Chunks = AsyncIterable<string | Uint8Array>

/** Whether an answer is sent bit by bit. */
export function holdsOn(answer: HttpResponse): answer is HttpResponse & { body: Chunks } {
  return typeof answer.body === 'object' && answer.body !== null && Symbol.asyncIterator in answer.body
}

/** The same stream, with callbacks for the start and the end of its reading. Each chunk waits for what is `pending`. */
export function held(
  body: Chunks,
  begin: () => void,
  end: () => void,
  pending: () => Promise<void> | null = () => null,
): Chunks {
  return {
    [Symbol.asyncIterator]: () => {
      const chunks = body[Symbol.asyncIterator]()
      let isOver = false
      const over = () => {
        if (!isOver) end()
        isOver = true
      }
      begin()
      return {
        async next() {
          try {
            const chunk = await chunks.next()
            const isPending = pending()
            if (isPending) await isPending
            if (chunk.done) over()
            return chunk
          } catch (reason) {
            over()
            throw reason
          }
        },
        // Not a generator: one of those hears of a reader that left only when it has the next chunk.
        async return() {
          try {
            await chunks.return?.()
          } finally {
            over()
          }
          return { done: true, value: undefined }
        },
      }
    },
  }
}

/** A stream that continues with another one, when there is one by the time it ends. */
export function followed(body: Chunks, next: () => Promise<Chunks | null>): Chunks {
  return {
    [Symbol.asyncIterator]: () => {
      let chunks = body[Symbol.asyncIterator]()
      let hasNext = true
      return {
        async next() {
          const chunk = await chunks.next()
          if (!chunk.done || !hasNext) return chunk
          hasNext = false
          const more = await next()
          if (more === null) return chunk
          chunks = more[Symbol.asyncIterator]()
          return chunks.next()
        },
        async return() {
          hasNext = false
          await chunks.return?.()
          return { done: true, value: undefined }
        },
      }
    },
  }
}
