import { BoundedMap } from '@tildebase/nouns/bounded-map'
import type { Documents } from '../../doors/identity/ports.ts'
import { http } from '../http/http-module.ts'
import { faultOf, guardedLookup } from './outbound.ts'

const MOST_BYTES = 65_536
const TIMEOUT = 5_000
const KEPT_MS = 300_000
const MOST_KEPT = 500

/**
 * Reads external documents: from public addresses only, by https, without redirects, bounded in size and time. The
 * address is tested when it is connected to, after its name was looked up.
 */
export function createDocuments({ insecure }: { readonly insecure: boolean }): Documents {
  const kept = new BoundedMap<string, { readonly text: string | null; readonly until: number }>(MOST_KEPT)
  return {
    async read(url) {
      const now = performance.now()
      const known = kept.get(url)
      if (known && known.until > now) return known.text
      const text = await fetchText(url, insecure)
      kept.set(url, { text, until: now + KEPT_MS })
      return text
    },
  }
}

function fetchText(text: string, insecure: boolean): Promise<string | null> {
  const url = new URL(text)
  if (!insecure && faultOf(url) !== null) return Promise.resolve(null)
  // TLS is loaded with the first document.
  const { request: send } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http
  return new Promise((done) => {
    const options = {
      headers: { accept: 'application/json' },
      agent: false,
      ...(!insecure && { lookup: guardedLookup }),
    }
    const request = send(url, options, (response) => {
      const isJson = /\bjson\b/.test(response.headers['content-type'] ?? '')
      if (response.statusCode !== 200 || !isJson) return void request.destroy(new Error('no document'))
      const chunks: Buffer[] = []
      let length = 0
      response.on('data', (chunk: Buffer) => {
        length += chunk.length
        chunks.push(chunk)
        if (length > MOST_BYTES) request.destroy(new Error('too large'))
      })
      response.on('end', () => done(Buffer.concat(chunks).toString('utf8')))
      response.on('error', () => done(null))
    })
    const timer = setTimeout(() => request.destroy(new Error('too slow')), TIMEOUT)
    request.on('error', () => done(null))
    request.on('close', () => clearTimeout(timer))
    request.end()
  })
}
