import type { Engine } from '../../engine/engine.ts'

const SPAN_BYTES = 8
/** Only while a write runs, which nothing else comes between. */
const traces = new WeakMap<Engine, string>()

/** Runs `work` as part of a trace, told as its id and flags: `4bf9…-01`. Deliveries of what it writes go on with it. */
export function traced<T>(tenant: Engine, trace: string, work: () => T): T {
  const outer = traces.get(tenant)
  traces.set(tenant, trace)
  try {
    return work()
  } finally {
    if (outer === undefined) traces.delete(tenant)
    else traces.set(tenant, outer)
  }
}

/** The trace that the write under way belongs to, or null. */
export function currentTrace(tenant: Engine): string | null {
  return traces.get(tenant) ?? null
}

/** The header of W3C Trace Context for a try to deliver: the trace of the write, and a span of its own. */
export function traceHeader(tenant: Engine, trace: string | null): { traceparent?: string } {
  if (trace === null) return {}
  const [id, flags] = trace.split('-')
  return { traceparent: `00-${id}-${hex(tenant.ports.random.bytes(SPAN_BYTES))}-${flags}` }
}

/** Bytes in hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += DIGITS[byte]
  return text
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
