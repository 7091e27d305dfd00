import type { Engine } from '../../engine/engine.ts'

const SPAN_BYTES = 8
/** The header of W3C Trace Context for a try to deliver: the trace of the write, and its own span. */
export function traceHeader(engine: Engine, trace: string | null): { traceparent?: string } {
  if (trace === null) return {}
  const [id, flags] = trace.split('-')
  return { traceparent: `00-${id}-${hex(engine.ports.random.bytes(SPAN_BYTES))}-${flags}` }
}

/** Bytes in hexadecimal digits. */
export function hex(bytes: Uint8Array): string {
  let text = ''
  for (const byte of bytes) text += DIGITS[byte]
  return text
}

const DIGITS = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))
