import { connect, type Socket } from 'node:net'
import { type BenchServer, KEY } from '../hosts/server.ts'

const START = '\nid: '

/** Followers of the change stream of the tenant `bench`, on bare sockets: a client that parses takes longer than the server. */
export class Followers {
  readonly #server: BenchServer
  readonly #sockets: Socket[] = []
  /** One piece of memory for all followers: they keep nothing of it. */
  readonly #page = Buffer.alloc(262_144)
  #begun = 0
  #messages = 0
  #expected = 0
  #arrivals: number[] = []
  #wake = () => {}

  constructor(server: BenchServer) {
    this.#server = server
  }

  /** Connects so many more, some at a time. */
  async add(count: number): Promise<void> {
    for (let i = 0; i < count; i += 50)
      await Promise.all(Array.from({ length: Math.min(50, count - i) }, () => this.#follow()))
  }

  /** Writes so many events at once and waits until every follower has all of them: milliseconds from the first write on. */
  async round(count: number, write: () => Promise<void>): Promise<{ answered: number; last: number; all: number[] }> {
    this.#messages = 0
    this.#arrivals = []
    this.#expected = this.#sockets.length * count
    const done = new Promise<void>((resolve) => {
      this.#wake = resolve
    })
    this.#begun = performance.now()
    await Promise.all(Array.from({ length: count }, write))
    const answered = performance.now() - this.#begun
    await done
    return { answered, last: this.#arrivals.at(-1)!, all: this.#arrivals }
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #follow(): Promise<void> {
    const { hostname, port } = new URL(this.#server.url)
    return new Promise((ready) => {
      let rest = ''
      const take = (bytes: number) => {
        const at = performance.now() - this.#begun
        const text = rest + this.#page.toString('latin1', 0, bytes)
        // A message may begin in one piece and continue in the next.
        rest = text.slice(-(START.length - 1))
        if (text.includes('retry: ')) ready()
        for (let from = text.indexOf(START); from !== -1; from = text.indexOf(START, from + 1)) {
          this.#messages++
          this.#arrivals.push(at)
        }
        if (this.#messages === this.#expected) this.#wake()
        return true
      }
      const socket = connect({ host: hostname, port: Number(port), onread: { buffer: this.#page, callback: take } })
      this.#sockets.push(socket)
      socket.write(
        `GET /~bench/events?since=now HTTP/1.1\r\nhost: ${hostname}:${port}\r\naccept: text/event-stream\r\nauthorization: Bearer ${KEY}\r\n\r\n`,
      )
    })
  }
}
