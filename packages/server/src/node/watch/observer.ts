import { monitorEventLoopDelay } from 'node:perf_hooks'
import { routes } from '../../doors/route-table.ts'
import type { RequestObserver, ServedRequest } from '../../doors/watch/observer.ts'
import type { Settings } from '../../host/settings/settings.ts'
import { log } from '../log.ts'
import { Spans } from './spans.ts'
import { COMMIT_SIZES, type Stats } from './stats.ts'

/** What the operator sees of the requests: numbers, lines in the log, spans in traces. */
export class HostObserver implements RequestObserver {
  readonly routes = routes
  readonly numbers = new Prometheus()
  readonly #lines: boolean
  readonly #spans: Spans | null
  readonly traces: boolean

  constructor(settings: Pick<Settings, 'logRequests' | 'collector'>) {
    this.#lines = settings.logRequests
    this.#spans = settings.collector && new Spans(settings.collector)
    this.traces = this.#spans !== null
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

/** The upper bounds of the latency histogram, in seconds. */
const BOUNDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** What is known of the requests of one route and method. */
interface Latency {
  /** How many were at most as long as each bound; the last counts all. */
  readonly counts: number[]
  seconds: number
  readonly statuses: Map<number, number>
}

/** Counts what the service does, in the words of Prometheus. No tenant is named: their number has no bound. */
class Prometheus {
  /** By route, then by method. */
  readonly #routes = new Map<string, Map<string, Latency>>()
  readonly #delay = monitorEventLoopDelay({ resolution: 250 })

  constructor() {
    this.#delay.enable()
  }

  hear({ method, route, status, ms }: ServedRequest): void {
    const latency = this.#latencyOf(route, method)
    latency.statuses.set(status, (latency.statuses.get(status) ?? 0) + 1)
    const seconds = ms / 1_000
    let first = 0
    while (first < BOUNDS.length && seconds > BOUNDS[first]!) first++
    latency.counts[first]!++
    latency.seconds += seconds
  }

  #latencyOf(route: string, method: string): Latency {
    const methods = this.#routes.get(route) ?? new Map<string, Latency>()
    const known = methods.get(method)
    if (known) return known
    const made = { counts: new Array(BOUNDS.length + 1).fill(0), seconds: 0, statuses: new Map<number, number>() }
    this.#routes.set(route, methods.set(method, made))
    return made
  }

  /** The page of all numbers. */
  page(stats: Stats, refused: ReadonlyMap<string, number>, bodyBytes: number, damaged: number): string {
    const { rss, heapUsed } = process.memoryUsage()
    const lag = (ns: number) => (Number.isFinite(ns) ? ns / 1e9 : 0)
    const latencies = [...this.#routes].flatMap(([route, methods]) =>
      [...methods].map(([method, latency]) => [`method="${method}",route="${route}"`, latency] as const),
    )
    const lines = [
      ...family('tilde_requests_total', 'counter', 'Requests answered, by route and status.', [
        ...latencies.flatMap(([labels, { statuses }]) =>
          [...statuses].map(([status, count]): Sample => [`{${labels},status="${status}"}`, count]),
        ),
      ]),
      ...histograms(latencies),
      ...family('tilde_commits_total', 'counter', 'Commits written to disk.', [['', sum(stats.commits)]]),
      ...commitSizes(stats),
      ...family('tilde_queue_depth', 'gauge', 'Writes that wait for a commit.', [['', stats.waiting]]),
      ...family('tilde_open_tenants', 'gauge', 'Tenants that are open.', [['', stats.open]]),
      ...family('tilde_quarantined_tenants', 'gauge', 'Tenants in quarantine because they stopped their thread.', [
        ['', stats.quarantined],
      ]),
      ...family('tilde_damaged_tenants', 'gauge', 'Tenants that were damaged when they were last verified.', [
        ['', damaged],
      ]),
      ...family('tilde_deliveries_total', 'counter', 'Webhook deliveries sent, by outcome.', [
        ['{outcome="delivered"}', stats.delivered],
        ['{outcome="failed"}', stats.failed],
      ]),
      ...family(
        'tilde_refused_total',
        'counter',
        'Requests refused before they reached their tenant, by reason.',
        [...refused].map(([reason, count]): Sample => [`{reason="${reason}"}`, count]),
      ),
      ...family('tilde_body_bytes', 'gauge', 'Bytes of request bodies in memory.', [['', bodyBytes]]),
      ...family('tilde_event_loop_lag_seconds', 'gauge', 'Lag of the event loop of the gateway.', [
        ['{quantile="0.5"}', lag(this.#delay.percentile(50))],
        ['{quantile="0.99"}', lag(this.#delay.percentile(99))],
      ]),
      ...family('process_resident_memory_bytes', 'gauge', 'Memory of the process.', [['', rss]]),
      ...family('nodejs_heap_used_bytes', 'gauge', 'Memory in use by the gateway thread.', [['', heapUsed]]),
      ...family('process_uptime_seconds', 'gauge', 'How long the process has been running.', [['', process.uptime()]]),
    ]
    return `${lines.join('\n')}\n`
  }

  close(): void {
    this.#delay.disable()
  }
}

type Sample = readonly [labels: string, value: number]

function family(name: string, type: string, help: string, samples: readonly Sample[]): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...samples.map(([labels, value]) => `${name}${labels} ${value}`),
  ]
}

function histograms(latencies: readonly (readonly [labels: string, latency: Latency])[]): string[] {
  const name = 'tilde_request_seconds'
  return [
    ...family(name, 'histogram', 'Time until the answer of a request was ready.', []),
    ...latencies.flatMap(([labels, { counts, seconds }]) =>
      histogram(name, `${labels},`, BOUNDS, counts).concat(
        `${name}_sum{${labels}} ${seconds}`,
        `${name}_count{${labels}} ${sum(counts)}`,
      ),
    ),
  ]
}

function commitSizes({ commits, writes }: Stats): string[] {
  const name = 'tilde_commit_writes'
  return [
    ...family(name, 'histogram', 'How many writes share a commit.', []),
    ...histogram(name, '', COMMIT_SIZES, commits),
    `${name}_sum ${writes}`,
    `${name}_count ${sum(commits)}`,
  ]
}

/** Buckets count everything up to their bound. */
function histogram(name: string, labels: string, bounds: readonly number[], counts: readonly number[]): string[] {
  let below = 0
  return [...bounds, '+Inf'].map((bound, index) => {
    below += counts[index]!
    return `${name}_bucket{${labels}le="${bound}"} ${below}`
  })
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0)
}
