/** Where a request is in a trace: W3C Trace Context. */
export interface Trace {
  /** 32 hexadecimal digits. */
  readonly id: string
  /** The span of this request, 16 digits. */
  readonly span: string
  /** The span that called us; null when the trace begins here. */
  readonly parent: string | null
  readonly sampled: boolean
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** Continues with the trace that the caller names, or begins one when `begin` is set; else null. */
export function traceOf(header: string | undefined, begin: boolean): Trace | null {
  if (header === undefined && !begin) return null
  const [, version, id, parent, flags] = TRACEPARENT.exec(header?.trim() ?? '') ?? []
  const named = id !== undefined && version !== 'ff' && !/^0+$/.test(id) && !/^0+$/.test(parent!)
  if (named) return { id, span: hex(16), parent: parent!, sampled: (Number.parseInt(flags!, 16) & 1) === 1 }
  return begin ? { id: hex(32), span: hex(16), parent: null, sampled: true } : null
}

/** The header that passes this request's span to the next service. */
export function traceparent({ id, span, sampled }: Trace): string {
  return `00-${id}-${span}-${sampled ? '01' : '00'}`
}

function hex(digits: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(digits / 2))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
