import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server between a browser and a host, for what happens on the way. */
export interface Way {
  readonly url: string
  /** Holds the answers under this path after so many bytes. */
  hold(path: string, bytes: number): void
  /** Cuts the answers that are held, as a broken connection does. */
  cut(): void
  /** Lets through what is held, and all that follows. */
  release(): void
  /** How many held answers the browser has given up. */
  readonly left: () => number
  stop(): Promise<void>
}

export async function openWay(to: string): Promise<Way> {
  const target = new URL(to)
  let held: { readonly path: string; readonly bytes: number } | null = null
  let left = 0
  const waiting = new Set<{ go(): void; cut(): void }>()
  const server = createServer({ maxHeaderSize: 65_536 }, (incoming, outgoing) => {
    const { 'accept-encoding': _, ...headers } = incoming.headers
    const { method, url: path = '' } = incoming
    const onward = request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      if (!held || !path.includes(held.path)) return void answer.pipe(outgoing)
      let most = held.bytes
      let rest: Buffer | null = null
      const one = {
        go: () => {
          most = Number.POSITIVE_INFINITY
          if (rest) outgoing.write(rest)
          answer.resume()
        },
        cut: () => outgoing.destroy(),
      }
      waiting.add(one)
      answer.on('data', (chunk: Buffer) => {
        outgoing.write(chunk.subarray(0, most))
        if (chunk.length < most) {
          most -= chunk.length
          return
        }
        rest = chunk.subarray(most)
        answer.pause()
      })
      answer.on('end', () => outgoing.end())
      outgoing.on('close', () => {
        waiting.delete(one)
        if (!outgoing.writableFinished) left += 1
        answer.destroy()
      })
    })
    onward.on('error', () => outgoing.destroy())
    outgoing.on('close', () => onward.destroy())
    incoming.pipe(onward)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold(path, bytes) {
      held = { path, bytes }
    },
    cut() {
      for (const one of waiting) one.cut()
    },
    release() {
      held = null
      for (const one of waiting) one.go()
    },
    left: () => left,
    async stop() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
