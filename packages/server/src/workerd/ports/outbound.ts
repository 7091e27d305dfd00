import type { Outbound, OutboundAnswer, OutboundRequest } from '@tildebase/tenant/ports'

/**
 * Requests out of a Durable Object. Names are resolved by the platform, out of our sight: it reaches no private network,
 * and addresses written as numbers are refused here.
 */
export function createOutbound(insecure: boolean): Outbound {
  return {
    refuses: (url) => (insecure ? null : refused(url)),
    async send(request) {
      const fault = insecure ? null : refused(request.url)
      if (fault !== null) return { error: fault }
      try {
        return await send(request)
      } catch (reason) {
        return {
          error:
            (reason as Error).name === 'TimeoutError'
              ? `no answer within ${request.timeoutMs} ms`
              : String((reason as Error).message),
        }
      }
    },
  }
}

async function send({
  method = 'POST',
  url,
  headers,
  body,
  timeoutMs,
  answerLimit,
}: OutboundRequest): Promise<OutboundAnswer> {
  const signal = AbortSignal.timeout(timeoutMs)
  const response = await fetch(url, { method, headers, ...(body !== '' && { body }), redirect: 'manual', signal })
  if (answerLimit === undefined) {
    await response.body?.cancel()
    return { status: response.status }
  }
  const text = await textOf(response, answerLimit)
  return text === null
    ? { error: 'the answer is too long' }
    : { status: response.status, text, headers: Object.fromEntries(response.headers) }
}

/** The text of a response; null when it has more bytes. The rest is not read: other tenants share the memory. */
async function textOf({ body }: Response, most: number): Promise<string | null> {
  const decoder = new TextDecoder()
  let [text, length] = ['', 0]
  // Leaving the loop ends the connection.
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > most) return null
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

const PRIVATE =
  'The address is not public: webhooks are not sent to addresses that are written as numbers, nor to names of private networks.'

/** Why a URL is not asked at all; null when it may be. */
export function refused(text: string): string | null {
  const { protocol, hostname } = new URL(text)
  if (protocol !== 'https:') return 'Only https is allowed.'
  // The URL parser has written every spelling of an IPv4 address as four numbers by now.
  const isNumeric = /^[\d.]+$/.test(hostname) || hostname.startsWith('[')
  if (isNumeric || /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/.test(hostname)) {
    return PRIVATE
  }
  return null
}
