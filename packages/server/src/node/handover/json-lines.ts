import type { Socket } from 'node:net'

/** Messages between two processes: a line of JSON each. */
export class JsonLines<In> {
  readonly #socket: Socket
  #rest = ''
  #hear: (message: In) => void = () => {}
  readonly closed: Promise<void>

  constructor(socket: Socket) {
    this.#socket = socket
    this.closed = new Promise((done) => socket.once('close', () => done()))
    socket.on('error', () => socket.destroy())
    socket.on('data', (bytes: Buffer) => {
      const lines = (this.#rest + bytes.toString('utf8')).split('\n')
      this.#rest = lines.pop()!
      for (const line of lines) this.#hear(JSON.parse(line))
    })
  }

  /** Begins to read. */
  listen(hear: (message: In) => void): void {
    this.#hear = hear
    this.#socket.resume()
  }

  /** Sends a message; nothing when the other process is no more. */
  send(message: object): void {
    if (this.#socket.writable) this.#socket.write(`${JSON.stringify(message)}\n`)
  }

  end(): void {
    this.#socket.end()
  }
}
