import type { ServedRequest } from '../../doors/watch/observer.ts'
import type { Collector } from '../../host/settings/settings.ts'
import { log } from '../log.ts'

const EVERY = 2_000
const MOST_WAITING = 4_096
const MOST_AT_ONCE = 512
const TIMEOUT = 10_000

/** Sends a span of every request to a collector, in batches. A collector that is slow or away costs spans, not memory. */
export class Spans {
  readonly #collector: Collector
  readonly #timer: NodeJS.Timeout
  #waiting: object[] = []
  #dropped = 0
  #sending: Promise<void> | null = null

  constructor(collector: Collector) {
    this.#collector = collector
    this.#timer = setInterval(() => void this.flush(), EVERY)
    this.#timer.unref()
  }

  hear(served: ServedRequest): void {
    if (!served.trace?.sampled) return
    if (this.#waiting.length >= MOST_WAITING) this.#dropped++
    else this.#waiting.push(spanOf(served))
    if (this.#waiting.length >= MOST_AT_ONCE) void this.flush()
  }

  /** Sends what waits, one batch after the other. */
  async flush(): Promise<void> {
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null
    })
    await this.#sending
  }

  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush()
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const spans = this.#waiting.splice(0, MOST_AT_ONCE)
      try {
        const response = await fetch(`${this.#collector.endpoint.replace(/\/+$/, '')}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', ...this.#collector.headers },
          body: JSON.stringify(exportOf(spans, this.#collector.service)),
          signal: AbortSignal.timeout(TIMEOUT),
        })
        await response.body?.cancel()
        if (!response.ok) throw new Error(`The collector answered ${response.status}.`)
      } catch (reason) {
        this.#dropped += spans.length
        log('warn', 'The collector refused spans', { dropped: this.#dropped, reason: String(reason) })
        this.#dropped = 0
        return
      }
    }
  }
}

function exportOf(spans: readonly object[], service: string): object {
  return {
    resourceSpans: [
      {
        resource: { attributes: [text('service.name', service)] },
        scopeSpans: [{ scope: { name: 'tildebase' }, spans }],
      },
    ],
  }
}

const SERVER = 2
const ERROR = 2

function spanOf({ method, route, path, status, at, ms, requestId, tenant, trace }: ServedRequest): object {
  return {
    traceId: trace!.id,
    spanId: trace!.span,
    ...(trace!.parent && { parentSpanId: trace!.parent }),
    name: `${method} ${route}`,
    kind: SERVER,
    startTimeUnixNano: nanos(at),
    endTimeUnixNano: nanos(at + ms),
    attributes: [
      text('http.request.method', method),
      text('http.route', route),
      text('url.path', path),
      text('tilde.request_id', requestId),
      ...(tenant === null ? [] : [text('tilde.tenant', tenant)]),
      { key: 'http.response.status_code', value: { intValue: String(status) } },
    ],
    ...(status >= 500 && { status: { code: ERROR } }),
  }
}

function text(key: string, stringValue: string): object {
  return { key, value: { stringValue } }
}

function nanos(ms: number): string {
  return `${Math.trunc(ms)}${String(Math.trunc((ms % 1) * 1e6)).padStart(6, '0')}`
}
