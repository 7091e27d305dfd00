import type { Documents } from '../../doors/identity/ports.ts'
import { refused } from './outbound.ts'

const MOST_BYTES = 65_536
const TIMEOUT = 5_000

/** Reads external documents. The platform reaches no private network; addresses written as numbers are refused here. */
export function createDocuments(insecure: boolean): Documents {
  return {
    async read(url) {
      if (!insecure && refused(url) !== null) return null
      try {
        const signal = AbortSignal.timeout(TIMEOUT)
        const response = await fetch(url, { headers: { accept: 'application/json' }, redirect: 'manual', signal })
        if (response.status !== 200 || !/\bjson\b/.test(response.headers.get('content-type') ?? '')) return null
        return await boundedText(response)
      } catch {
        return null
      }
    },
  }
}

async function boundedText({ body }: Response): Promise<string | null> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of (body ?? []) as AsyncIterable<Uint8Array>) {
    length += chunk.length
    if (length > MOST_BYTES) return null
    chunks.push(chunk)
  }
  return new Blob(chunks as BlobPart[]).text()
}
