import { routes } from '../../doors/route-table.ts'
import type { RequestObserver, ServedRequest } from '../../doors/watch/observer.ts'
import type { Settings } from '../../host/settings/settings.ts'
import { log } from '../log.ts'
import { Prometheus } from './prometheus.ts'
import { Spans } from './spans.ts'

/** What the operator sees of the requests: numbers, lines in the log, spans in traces. */
export class HostObserver implements RequestObserver {
  readonly routes = routes
  readonly numbers = new Prometheus()
  readonly #lines: boolean
  readonly #spans: Spans | null

  constructor(settings: Pick<Settings, 'logRequests' | 'collector'>) {
    this.#lines = settings.logRequests
    this.#spans = settings.collector && new Spans(settings.collector)
  }

  get traces(): boolean {
    return this.#spans !== null
  }

  observe(served: ServedRequest): void {
    this.numbers.hear(served)
    this.#spans?.hear(served)
    if (this.#lines) logRequest(served)
  }

  async close(): Promise<void> {
    this.numbers.close()
    await this.#spans?.close()
  }
}

function logRequest({ method, path, route, status, ms, requestId, tenant, key, trace }: ServedRequest): void {
  log('info', 'request', {
    method,
    path,
    route,
    status,
    ms: Math.round(ms * 100) / 100,
    requestId,
    ...(tenant !== null && { tenant }),
    ...(key !== null && { key }),
    ...(trace !== null && { trace: trace.id }),
  })
}
