import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** One request that a receiver got. */
export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  readonly body: any
  readonly at: number
}

type Behaviour = number | ((received: Received, response: ServerResponse) => void)

/** An endpoint on loopback that follows a script and records requests. */
export class Receiver {
  readonly requests: Received[] = []
  readonly #server: Server
  #behaviour: Behaviour = 204
  #waiting: (() => void)[] = []

  private constructor(server: Server) {
    this.#server = server
  }

  static async start(port = 0): Promise<Receiver> {
    const server = createServer()
    const receiver = new Receiver(server)
    server.on('request', (request, response) => {
      const chunks: Buffer[] = []
      request.on('error', () => {})
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        const { headers, url: path = '' } = request
        receiver.#take({ path, headers, text, body: JSON.parse(text || 'null'), at: Date.now() }, response)
      })
    })
    await new Promise<void>((done) => server.listen(port, '127.0.0.1', done))
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  /** What it answers from now on: a status, or a function that does what it likes with the response. */
  answer(behaviour: Behaviour): void {
    this.#behaviour = behaviour
  }

  /** The requests once there are so many, or a failure that returns their number. */
  async got(count: number, path?: string, ms = 40_000): Promise<readonly Received[]> {
    const end = Date.now() + ms
    for (;;) {
      const found = path === undefined ? this.requests : this.requests.filter((one) => one.path === path)
      if (found.length >= count) return found
      const left = end - Date.now()
      if (left <= 0) throw new Error(`The receiver got ${found.length} requests and not ${count}.`)
      await new Promise<void>((done) => {
        const timer = setTimeout(done, Math.min(left, 250))
        this.#waiting.push(() => {
          clearTimeout(timer)
          done()
        })
      })
    }
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((done) => this.#server.close(() => done()))
  }

  #take(received: Received, response: ServerResponse): void {
    this.requests.push(received)
    if (typeof this.#behaviour === 'number') response.writeHead(this.#behaviour).end()
    else this.#behaviour(received, response)
    for (const tell of this.#waiting.splice(0)) tell()
  }
}

/** Waits until something holds. */
export async function until(holds: () => Promise<boolean> | boolean, ms = 40_000): Promise<void> {
  for (const end = Date.now() + ms; !(await holds()); await new Promise((done) => setTimeout(done, 20))) {
    if (Date.now() > end) throw new Error('It did not come to hold.')
  }
}
