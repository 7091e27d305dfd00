import { KEY } from '../../faults/server.ts'

/** Milliseconds that a client waits for an answer. */
const PATIENCE = 8_000

/** Milliseconds within which a request of the test itself must succeed. */
const INSIST = 60_000

/** Statuses that do not change when the request is sent again. */
const HOPELESS = new Set([400, 401, 403, 405, 422])

export interface Reply {
  readonly status: number
  readonly body: any
}

/** No whole answer came: whether the request was done is not known. */
export class NoAnswer {
  readonly reason: string

  constructor(reason: string) {
    this.reason = reason
  }
}

/** An answer; `refused` when no connection was made, so that nothing was sent. */
export type Answer = Reply | 'refused' | NoAnswer

/** One request to one node. */
export async function request(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  patience = PATIENCE,
  end?: AbortSignal,
): Promise<Answer> {
  const late = AbortSignal.timeout(patience)
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      signal: end === undefined ? late : AbortSignal.any([late, end]),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  } catch (error) {
    const { name, cause } = error as { name: string; cause?: { code?: string } }
    return cause?.code === 'ECONNREFUSED' ? 'refused' : new NoAnswer(cause?.code ?? name)
  }
}

/** Asks one address after the other until one answers with success. For set-up and checks, outside of histories. */
export async function insist(
  urls: readonly string[],
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<any> {
  const until = Date.now() + INSIST
  let last: Answer = 'refused'
  for (let tries = 0; Date.now() < until; tries++) {
    last = await request(urls[tries % urls.length]!, method, path, body, headers, 30_000)
    if (isReply(last)) {
      if (last.status < 300) return last.body
      if (HOPELESS.has(last.status)) break
    }
    await new Promise((done) => setTimeout(done, 200))
  }
  throw new Error(`${method} ${path} did not succeed: ${JSON.stringify(last)}`)
}

export function isReply(answer: Answer): answer is Reply {
  return answer !== 'refused' && !(answer instanceof NoAnswer)
}
