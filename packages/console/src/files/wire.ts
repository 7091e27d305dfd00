import type { Sending, Wire } from '@tildebase/client'
import { request, send } from '../service/service.ts'

/** The requests of one upload, all with the correlation that `undo` takes back. */
export function wireWith(correlation: string): Wire {
  const own = ({ headers, ...sending }: Sending) => ({
    ...sending,
    headers: { ...headers, 'x-correlation-id': correlation },
  })
  return {
    baseUrl: '',
    json: (path, sending = {}) => request(sending.method ?? 'GET', path, own(sending)),
    send: (path, sending = {}) => send(sending.method ?? 'GET', path, own(sending)),
  }
}
