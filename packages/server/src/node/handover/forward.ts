import type { ClientRequest, IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Problem } from '@tildebase/nouns'
import type { Body, HttpRequest, HttpResponse } from '../../doors/http.ts'
import type { Connection } from '../../doors/limits/admission.ts'
import { http } from '../http/http-module.ts'

/** Passes a request on to the service that has taken over. */
export type Forward = (ask: HttpRequest, connection?: Connection | null) => Promise<HttpResponse>

/** These belong to one connection. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'transfer-encoding', 'expect', 'upgrade']
const ANYWHERE: { readonly [address: string]: string } = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** Passes requests on to the service that listens on an address now. */
export class Forwarder {
  readonly #where: { readonly socketPath: string } | { readonly host: string; readonly port: number }
  readonly #underWay = new Set<ClientRequest>()

  constructor(address: AddressInfo | string) {
    this.#where =
      typeof address === 'string'
        ? { socketPath: address }
        : { host: ANYWHERE[address.address] ?? address.address, port: address.port }
  }

  readonly pass: Forward = async (ask, connection = null) => {
    const body = connection === null ? ask.body : await connection.readBody('forwarded')
    const { path, query, method } = ask
    const headers = headersOf(ask, body, connection?.address)
    const target = { ...this.#where, method, path: query === '' ? path : `${path}?${query}`, headers }
    return new Promise((done, failed) => {
      const sent = http.request({ ...target, agent: false }, (response) => done(responseOf(response, method)))
      this.#underWay.add(sent)
      sent.once('error', () => failed(replacing())).once('close', () => this.#underWay.delete(sent))
      connection?.onClose(() => sent.destroy())
      send(body, sent, failed)
    })
  }

  /** Ends requests that are still passed on, such as endless streams. */
  end(): void {
    for (const sent of this.#underWay) sent.destroy()
  }
}

function headersOf({ headers }: HttpRequest, body: Body, address: string | undefined): Record<string, string> {
  const given = Object.entries(headers).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !HOP_BY_HOP.includes(entry[0]),
  )
  const kept = Object.fromEntries(given)
  if (body instanceof Uint8Array) kept['content-length'] = String(body.length)
  // As any proxy does: the next one knows whom the connection came from.
  if (address) kept['x-forwarded-for'] = [kept['x-forwarded-for'], address].filter(Boolean).join(', ')
  return kept
}

function send(body: Body, sent: ClientRequest, failed: (reason: unknown) => void): void {
  if (body === null || body instanceof Uint8Array) return void sent.end(body ?? undefined)
  const pour = async () => {
    for await (const chunk of body) if (!sent.write(chunk)) await new Promise((done) => sent.once('drain', done))
    sent.end()
  }
  pour().catch((reason) => {
    sent.destroy()
    failed(reason)
  })
}

function responseOf(response: IncomingMessage, method: string): HttpResponse {
  const { statusCode: status = 502 } = response
  const names = Object.keys(response.headers).filter((name) => !HOP_BY_HOP.includes(name))
  const headers = Object.fromEntries(names.map((name) => [name, String(response.headers[name])]))
  if (method !== 'HEAD' && status !== 204 && status !== 304) return { status, headers, body: response }
  response.resume()
  return { status, headers, body: null }
}

export function replacing(): Problem {
  return new Problem('unavailable', 'The service is being replaced. Try again in a moment.', { retryAfter: 1 })
}
