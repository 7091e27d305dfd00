import { Problem, tooMuch } from '@tildebase/nouns'
import type { Answer, Ask } from './connector.ts'

/** What a request to a provider gave; an error is a lost connection. */
export type Sent =
  | { readonly status: number; readonly text: string; readonly headers: { readonly [name: string]: string } }
  | { readonly error: string }

export interface Patience {
  readonly send: (path: string) => Promise<Sent>
  readonly wait: (ms: number) => Promise<void>
  readonly now: () => number
  /** Requests for one answer, the first included. */
  readonly tries?: number
  /** A provider that asks for a longer pause is given up; two hours unless another time is given. */
  readonly longestWait?: number
}

const TRIES = 8
const FIRST_WAIT = 500
const LONGEST_WAIT = 7_200_000

/** Asks a provider until it answers: obeys its limits of requests, and repeats what was lost, cut off or failed. */
export function patient({ send, wait, now, tries = TRIES, longestWait = LONGEST_WAIT }: Patience): Ask {
  return async (path) => {
    for (let failures = 1; ; failures++) {
      const sent = await send(path)
      const answer = read(sent)
      if (typeof answer !== 'string') return answer
      const asked = 'error' in sent ? null : pauseOf(sent, now())
      const status = 'error' in sent ? 0 : sent.status
      const isTemporary = asked !== null || status === 0 || status === 200 || status === 429 || status >= 500
      if (!isTemporary || failures >= tries || (asked ?? 0) > longestWait) {
        const code = status === 401 || status === 403 ? 'unauthorized' : 'unavailable'
        throw new Problem(code, `${path.split('?')[0]} failed: ${answer}`, { status })
      }
      await wait(asked ?? FIRST_WAIT * 2 ** (failures - 1))
    }
  }
}

/** The answer, or why there is none. */
function read(sent: Sent): Answer | string {
  if ('error' in sent) return sent.error
  if (sent.status !== 200) return `the provider answered with ${sent.status}.`
  const fault = tooMuch(sent.text)
  if (fault !== null) throw new Problem('unavailable', `The provider answered with JSON that ${TOO_MUCH[fault]}.`)
  const body = jsonIn(sent.text)
  if (body === undefined) return 'the answer is not complete.'
  return { body, headers: sent.headers }
}

const TOO_MUCH = { levels: 'is nested too deeply', names: 'has too many names', values: 'has too many values' }

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The pause that the provider asks for, in milliseconds; null if it does not say so. */
function pauseOf({ status, headers }: Exclude<Sent, { error: string }>, now: number): number | null {
  if (status !== 429 && status !== 403 && status !== 503) return null
  const after = headers['retry-after']
  if (after !== undefined && after !== '') {
    const seconds = Number(after)
    const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(after) - now
    if (Number.isFinite(ms)) return Math.max(ms, 0)
  }
  const reset = Number(headers['x-ratelimit-reset'])
  if (headers['x-ratelimit-remaining'] === '0' && Number.isFinite(reset)) return Math.max(reset * 1_000 - now, 1_000)
  return null
}
