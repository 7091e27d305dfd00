import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { AwsV4Signer } from 'aws4fetch'
import type { BucketSettings } from '../settings/file-settings.ts'
import { partsOf } from './parts.ts'

/** An object of a bucket. */
export interface BucketObject {
  readonly key: string
  readonly at: number
}

const TRIES = 6
const FIRST_PAUSE = 100
const TIMEOUT = 60_000
const PASSING = new Set([408, 429, 500, 502, 503, 504])

interface Ask {
  readonly method: string
  readonly query?: { readonly [name: string]: string }
  readonly headers?: { readonly [name: string]: string }
  readonly body?: Uint8Array | string
}

/** A bucket of an S3-compatible store, addressed in path style. Requests that fail in passing are repeated. */
export class Bucket {
  readonly #settings: BucketSettings
  readonly #timeout: number

  /** An answer that has not come after so many milliseconds counts as lost. */
  constructor(settings: BucketSettings, timeout = TIMEOUT) {
    this.#settings = settings
    this.#timeout = timeout
  }

  /** Stores an object. Done when the store has acknowledged all of it; when the source fails, nothing is left. */
  async put(key: string, source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    let upload: string | null = null
    const tags: string[] = []
    try {
      for await (const { bytes, isLast } of partsOf(source)) {
        if (isLast && upload === null) return void (await this.#demand(key, { method: 'PUT', body: bytes }))
        upload ??= await this.#begin(key)
        const query = { partNumber: String(tags.length + 1), uploadId: upload }
        const answer = await this.#demand(key, { method: 'PUT', query, body: bytes })
        tags.push(answer.headers.get('etag') ?? '')
      }
      await this.#complete(key, upload!, tags)
    } catch (reason) {
      if (upload !== null) await this.#ask(key, { method: 'DELETE', query: { uploadId: upload } }).catch(() => {})
      throw reason
    }
  }

  /** The bytes from one position to another. Continues where a connection was cut. */
  async *read(key: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    let failures = 0
    for (let at = from; at < to; ) {
      try {
        const answer = await this.#demand(key, { method: 'GET', headers: { range: `bytes=${at}-${to - 1}` } })
        if (answer.status !== 206 && at > 0) throw new Error(`The bucket ignores Range for ${key}.`)
        for await (const chunk of answer.body ?? []) {
          const piece = at + chunk.length > to ? chunk.subarray(0, to - at) : chunk
          at += piece.length
          failures = 0
          yield piece
          if (at >= to) break
        }
        if (at < to) throw new Error(`The object ${key} ended early.`)
      } catch (reason) {
        if (reason instanceof BucketRefusal || ++failures >= TRIES) throw reason
        await pause(FIRST_PAUSE * 2 ** failures)
      }
    }
  }

  /** The whole object, or null when there is none. */
  async get(key: string): Promise<Uint8Array | null> {
    const answer = await this.#ask(key, { method: 'GET' })
    if (answer.status === 404) return null
    await demandOk(answer, key)
    return new Uint8Array(await answer.arrayBuffer())
  }

  /** The number of bytes of an object, or null when there is none. */
  async size(key: string): Promise<number | null> {
    const answer = await this.#ask(key, { method: 'HEAD' })
    if (answer.status === 404) return null
    await demandOk(answer, key)
    return Number(answer.headers.get('content-length'))
  }

  async has(key: string): Promise<boolean> {
    const { status } = await this.#ask(key, { method: 'HEAD' })
    return status >= 200 && status < 300
  }

  async remove(key: string): Promise<void> {
    const answer = await this.#ask(key, { method: 'DELETE' })
    if (answer.status !== 404) await demandOk(answer, key)
  }

  /** Stores a copy of an object. False when there is none. */
  async copy(from: string, to: string): Promise<boolean> {
    const source = `/${this.#settings.bucket}/${encodedPath(this.#pathOf(from))}`
    const answer = await this.#ask(to, { method: 'PUT', headers: { 'x-amz-copy-source': source } })
    if (answer.status === 404) return false
    await demandOk(answer, to)
    return !(await answer.text()).includes('<Error>')
  }

  /** The objects whose keys begin so, in the order of their keys. */
  async *list(prefix: string): AsyncGenerator<BucketObject> {
    const whole = this.#pathOf(prefix)
    const shorter = whole.length - prefix.length
    for (let token: string | null = ''; token !== null; ) {
      const query: { [name: string]: string } = { 'list-type': '2', prefix: whole }
      if (token !== '') query['continuation-token'] = token
      const answer = await this.#send('', { method: 'GET', query })
      await demandOk(answer, prefix)
      const text = await answer.text()
      for (const [, item = ''] of text.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g))
        yield { key: textIn(item, 'Key')!.slice(shorter), at: Date.parse(textIn(item, 'LastModified') ?? '') || 0 }
      token = textIn(text, 'IsTruncated') === 'true' ? textIn(text, 'NextContinuationToken') : null
    }
  }

  async #begin(key: string): Promise<string> {
    const answer = await this.#demand(key, { method: 'POST', query: { uploads: '' } })
    const id = textIn(await answer.text(), 'UploadId')
    if (id === null) throw new Error(`The bucket gave no id for the upload of ${key}.`)
    return id
  }

  async #complete(key: string, upload: string, tags: readonly string[]): Promise<void> {
    const parts = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escaped(tag)}</ETag></Part>`)
    const body = `<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`
    const answer = await this.#ask(key, { method: 'POST', query: { uploadId: upload }, body })
    const text = await answer.text()
    // A first answer may have been lost: then the upload is no more, and the object is there.
    if (answer.status === 404 && (await this.has(key))) return
    if (answer.status >= 300 || text.includes('<Error>')) throw new BucketRefusal(answer.status, key, text)
  }

  async #demand(key: string, ask: Ask): Promise<Response> {
    const answer = await this.#ask(key, ask)
    await demandOk(answer, key)
    return answer
  }

  #ask(key: string, ask: Ask): Promise<Response> {
    return this.#send(this.#pathOf(key), ask)
  }

  /** Sends a request until it is answered with something that does not pass. Every request here can be repeated. */
  async #send(path: string, ask: Ask): Promise<Response> {
    for (let tries = 1; ; tries++) {
      try {
        const answer = await this.#sendOnce(path, ask)
        if (!PASSING.has(answer.status) || tries === TRIES) return answer
        await answer.body?.cancel()
      } catch (reason) {
        if (tries === TRIES) throw reason
      }
      await pause(FIRST_PAUSE * 2 ** tries)
    }
  }

  async #sendOnce(path: string, { method, query = {}, headers = {}, body }: Ask): Promise<Response> {
    const { endpoint, bucket, region, accessKeyId, secretAccessKey } = this.#settings
    const url = new URL(`${endpoint}/${bucket}${path === '' ? '' : `/${encodedPath(path)}`}`)
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
    const sum = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const signer = new AwsV4Signer({
      method,
      url: url.href,
      headers: { ...headers, 'x-amz-content-sha256': sum },
      ...(body !== undefined && { body: body as BodyInit }),
      accessKeyId,
      secretAccessKey,
      service: 's3',
      region,
    })
    const signed = await signer.sign()
    return fetch(signed.url, {
      method,
      headers: signed.headers,
      ...(body !== undefined && { body: body as BodyInit }),
      redirect: 'error',
      signal: AbortSignal.timeout(this.#timeout),
    })
  }

  #pathOf(key: string): string {
    const { prefix } = this.#settings
    return prefix === '' ? key : `${prefix}/${key}`
  }
}

/** A refusal of the bucket that a retry does not change. */
export class BucketRefusal extends Error {
  readonly status: number

  constructor(status: number, key: string, text: string) {
    super(`The bucket answered ${status} for ${key}: ${(textIn(text, 'Code') ?? text).slice(0, 200)}`)
    this.name = 'BucketRefusal'
    this.status = status
  }
}

async function demandOk(answer: Response, key: string): Promise<void> {
  if (answer.status >= 300) throw new BucketRefusal(answer.status, key, await answer.text())
}

function textIn(xml: string, name: string): string | null {
  const [, text] = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml) ?? []
  return text === undefined ? null : unescaped(text)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/')
}
