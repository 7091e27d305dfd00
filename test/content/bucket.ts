import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What goes wrong with a request: an error, a reset or silence before it is done, or the same after it is done. */
export type Fault = 'error' | 'reset' | 'lost answer' | 'silence' | 'late silence' | null

/** A bucket of our own, with the part of the protocol that the service uses, that can fail. It is not a real S3 server. */
export class TestBucket {
  readonly objects = new Map<string, { bytes: Buffer; at: string }>()
  readonly uploads = new Map<string, Map<number, Buffer>>()
  /** Keys that a list does not show yet. */
  isUnlisted: (key: string) => boolean = () => false
  /** How long each request takes, in milliseconds. */
  delay = 0
  /** Decides about every request. */
  fault: (request: IncomingMessage) => Fault = () => null
  requests = 0
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  async start(): Promise<this> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done))
    return this
  }

  get settings(): Record<string, string> {
    return {
      TILDE_FILES: 's3://tilde/pre/fix',
      TILDE_S3_ENDPOINT: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`,
      TILDE_S3_REGION: 'eu-test-1',
      TILDE_S3_ACCESS_KEY_ID: 'AKTEST',
      TILDE_S3_SECRET_ACCESS_KEY: 'secret/of+the+key',
    }
  }

  stop(): Promise<void> {
    this.#server.closeAllConnections()
    return new Promise((done) => this.#server.close(() => done()))
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests++
    // A client that gives up has no body.
    const chunks = await request.toArray().catch(() => null)
    if (chunks === null) return
    const body = Buffer.concat(chunks)
    const { authorization = '', 'x-amz-content-sha256': sum } = request.headers
    const isSigned = /^AWS4-HMAC-SHA256 Credential=AKTEST\/\d{8}\/eu-test-1\/s3\/aws4_request,/.test(authorization)
    if (!isSigned || sum !== createHash('sha256').update(body).digest('hex')) {
      response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>')
      return
    }
    if (this.delay > 0) await new Promise((done) => setTimeout(done, this.delay))
    const fault = this.fault(request)
    if (fault === 'reset') return void request.socket.destroy()
    if (fault === 'error') return void response.writeHead(500).end('<Error><Code>InternalError</Code></Error>')
    if (fault === 'silence') return
    const { status, headers = {}, bytes = '' } = this.#do(request, body)
    if (fault === 'late silence') return
    if (fault === 'lost answer') return void request.socket.destroy()
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : bytes)
  }

  #do(
    { method, url = '', headers }: IncomingMessage,
    body: Buffer,
  ): { status: number; headers?: Record<string, string>; bytes?: Buffer | string } {
    const { pathname, searchParams: query } = new URL(url, 'http://x')
    const key = decodeURIComponent(pathname.slice('/tilde/'.length))
    const upload = query.get('uploadId')
    const object = this.objects.get(key)
    if (method === 'GET' && query.has('list-type')) return { status: 200, bytes: this.#list(query) }
    if (method === 'POST' && query.has('uploads')) {
      const id = `upload-${this.requests}`
      this.uploads.set(id, new Map())
      return { status: 200, bytes: `<R><UploadId>${id}</UploadId></R>` }
    }
    if (upload !== null && !this.uploads.has(upload))
      return { status: 404, bytes: '<Error><Code>NoSuchUpload</Code></Error>' }
    if (method === 'PUT' && upload !== null) {
      this.uploads.get(upload)!.set(Number(query.get('partNumber')), body)
      return { status: 200, headers: { etag: `"${query.get('partNumber')}"` } }
    }
    if (method === 'POST' && upload !== null) {
      const parts = [...this.uploads.get(upload)!].toSorted(([a], [b]) => a - b).map(([, part]) => part)
      this.#store(key, Buffer.concat(parts))
      this.uploads.delete(upload)
      return { status: 200, bytes: '<R/>' }
    }
    if (method === 'DELETE' && upload !== null) {
      this.uploads.delete(upload)
      return { status: 204 }
    }
    if (method === 'DELETE') {
      this.objects.delete(key)
      return { status: 204 }
    }
    const source = headers['x-amz-copy-source']
    if (method === 'PUT' && source !== undefined) {
      const from = this.objects.get(decodeURIComponent(String(source).slice('/tilde/'.length)))
      if (!from) return { status: 404, bytes: '<Error><Code>NoSuchKey</Code></Error>' }
      this.#store(key, from.bytes)
      return { status: 200, bytes: '<CopyObjectResult/>' }
    }
    if (method === 'PUT') {
      this.#store(key, body)
      return { status: 200, headers: { etag: '"x"' } }
    }
    if (!object) return { status: 404, bytes: '<Error><Code>NoSuchKey</Code></Error>' }
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? []
    if (from === undefined)
      return { status: 200, headers: { 'content-length': `${object.bytes.length}` }, bytes: object.bytes }
    return { status: 206, bytes: object.bytes.subarray(Number(from), Number(to) + 1) }
  }

  #store(key: string, bytes: Buffer): void {
    this.objects.set(key, { bytes, at: new Date().toISOString() })
  }

  #list(query: URLSearchParams): string {
    const keys = [...this.objects.keys()]
      .filter((key) => key.startsWith(query.get('prefix')!) && !this.isUnlisted(key))
      .toSorted()
    const start = Number(query.get('continuation-token') ?? '0')
    const page = keys.slice(start, start + 2)
    const items = page.map(
      (key) => `<Contents><Key>${key}</Key><LastModified>${this.objects.get(key)!.at}</LastModified></Contents>`,
    )
    const isTruncated = start + 2 < keys.length
    const next = isTruncated ? `<NextContinuationToken>${start + 2}</NextContinuationToken>` : ''
    return `<R><IsTruncated>${isTruncated}</IsTruncated>${next}${items.join('')}</R>`
  }
}
