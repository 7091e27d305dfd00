import { Problem } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../doors/http.ts'
import { serviceText } from '../doors/llms/service-text.ts'
import { json, render } from '../doors/reply.ts'

const TEXT = { 'content-type': 'text/plain; charset=utf-8' }

/** Paths outside tenants that every host answers: what this is, and whether it is well. Null for other paths. */
export function publicPage(
  { method, scheme, host }: HttpRequest,
  segments: readonly string[],
  isStopping: boolean,
): HttpResponse | null {
  switch (segments.join('/')) {
    case '':
      demandReading(method)
      return render(json(200, { service: 'Tildebase', tenants: '/~{tenant}', health: '/healthz' }))
    case 'llms.txt':
      demandReading(method)
      return { status: 200, headers: TEXT, body: serviceText(`${scheme}://${host}`) }
    case 'healthz':
      demandReading(method)
      return render(json(200, { status: 'ok' }))
    case 'readyz':
      demandReading(method)
      if (isStopping) return render(json(503, { status: 'stopping' }, { 'retry-after': '5' }))
      return render(json(200, { status: 'ready' }))
    default:
      return null
  }
}

/** Refuses what is not a read. */
export function demandReading(method: string): void {
  if (method === 'GET' || method === 'HEAD') return
  throw new Problem('method_not_allowed', `${method} is not supported here; use GET.`, { allow: 'GET' })
}
