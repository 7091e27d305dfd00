import { createServer } from 'node:http'

interface Transfer {
  readonly from: number
  readonly to: number
  readonly amount: number
}

/** What a small program of its own does transfers with. */
export interface Accounts {
  /** Moves an amount from one account to another, or throws. */
  transfer(transfer: Transfer): Promise<void> | void
  /** The sum of all balances. */
  total(): Promise<number> | number
}

/** Answers transfers over HTTP, on a free port, and prints the address. */
export function serve({ transfer, total }: Accounts): void {
  const server = createServer((request, response) => {
    const send = (status: number, body: object) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    const refuse = () => send(409, { ok: false })
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', async () => {
      try {
        if (request.method === 'GET') return send(200, { total: await total() })
        // Without a promise where there is none to wait for.
        const done = transfer(JSON.parse(Buffer.concat(chunks).toString()))
        if (done instanceof Promise) await done
        send(200, { ok: true })
      } catch {
        refuse()
      }
    })
  })
  server.listen(0, '127.0.0.1', () =>
    process.stdout.write(`http://127.0.0.1:${(server.address() as { port: number }).port}\n`),
  )
}
