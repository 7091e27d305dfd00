import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Outbound, OutboundAnswer } from '@tildebase/tenant/ports'

/** The platform opens six connections at once for an object; two are kept for hosts that answer quickly. */
const MOST = 6
const MOST_SLOW = 4
/** A host that answered within this time is a quick one, until it takes longer. */
const QUICK_MS = 1_000
const MOST_HOSTS = 1_000
/** How long after its time a request may end. */
const MARGIN_MS = 1_000

interface Waiting {
  readonly host: string
  readonly begin: () => void
}

/**
 * Requests out of an object, few at once: hosts that hang do not delay others. `guard` receives the time by which each
 * will have ended, so that what an object forgets when it dies is done again.
 */
export function inFlights(outbound: Outbound, guard: (until: number) => void): Outbound {
  const quick = new BoundedMap<string, true>(MOST_HOSTS)
  const waiting: Waiting[] = []
  let flying = 0
  let slow = 0

  const mayBegin = (host: string) => flying < MOST && (quick.has(host) || slow < MOST_SLOW)
  const beginNext = () => {
    const at = waiting.findIndex(({ host }) => mayBegin(host))
    if (at !== -1) waiting.splice(at, 1)[0]!.begin()
  }
  const learn = (host: string, ms: number, answer: OutboundAnswer) => {
    quick.delete(host)
    if ('error' in answer || ms > QUICK_MS) return
    quick.set(host, true)
  }

  return {
    ...(outbound.refuses && { refuses: outbound.refuses }),
    async send(request) {
      const host = new URL(request.url).host
      guard(Date.now() + request.timeoutMs + MARGIN_MS)
      if (!mayBegin(host)) await new Promise<void>((begin) => waiting.push({ host, begin }))
      const isSlow = !quick.has(host)
      flying++
      if (isSlow) slow++
      const begun = Date.now()
      guard(begun + request.timeoutMs + MARGIN_MS)
      try {
        const answer = await outbound.send(request)
        learn(host, Date.now() - begun, answer)
        return answer
      } finally {
        flying--
        if (isSlow) slow--
        beginNext()
      }
    },
  }
}
