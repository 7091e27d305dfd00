import { type AddressInfo, createServer, type Socket } from 'node:net'

/** A mailbox on loopback: the commands of IMAP that a reader needs. */
export interface TestImap {
  readonly port: number
  /** The raw messages of the inbox; their place is their number. */
  readonly messages: string[]
  /** The commands that it got, without passwords. */
  readonly commands: string[]
  close(): Promise<void>
}

export async function openImap(username: string, password: string): Promise<TestImap> {
  const messages: string[] = []
  const commands: string[] = []
  const sockets = new Set<Socket>()
  const answer = (command: string, rest: string): readonly [lines: string[], status: string] => {
    switch (command) {
      case 'CAPABILITY':
        return [['* CAPABILITY IMAP4rev1'], 'OK done']
      case 'LOGIN':
        return [
          [],
          rest.replaceAll('"', '') === `${username} ${password}` ? 'OK in' : 'NO [AUTHENTICATIONFAILED] wrong',
        ]
      case 'LIST':
        return [['* LIST () "/" INBOX'], 'OK done']
      case 'SELECT':
      case 'EXAMINE':
        return [
          [`* ${messages.length} EXISTS`, '* FLAGS ()', '* OK [UIDVALIDITY 7] valid', '* OK [UIDNEXT 99] next'],
          'OK [READ-ONLY] open',
        ]
      case 'UID SEARCH': {
        const from = Number(/(\d+):\*/.exec(rest)?.[1] ?? 1)
        const found = messages.map((_, i) => i + 1).filter((uid) => uid >= from || uid === messages.length)
        return [[`* SEARCH ${found.join(' ')}`], 'OK done']
      }
      case 'UID FETCH': {
        const uid = Number.parseInt(rest, 10)
        const text = messages[uid - 1] ?? ''
        const size = Buffer.byteLength(text, 'latin1')
        const body = /BODY/.test(rest) ? ` BODY[] {${size}}\r\n${text}` : ` RFC822.SIZE ${size}`
        return [[`* ${uid} FETCH (UID ${uid}${body})`], 'OK done']
      }
      default:
        return [command === 'LOGOUT' ? ['* BYE'] : [], 'OK done']
    }
  }
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.write('* OK ready\r\n')
    let waiting = ''
    socket.on('data', (chunk) => {
      waiting += chunk.toString('latin1')
      const lines = waiting.split('\r\n')
      waiting = lines.pop()!
      for (const line of lines) {
        const [, tag = '', command = '', rest = ''] = /^(\S+) ((?:UID )?\S+) ?(.*)$/i.exec(line) ?? []
        commands.push(command.toUpperCase() === 'LOGIN' ? 'LOGIN' : `${command} ${rest}`)
        const [sent, status] = answer(command.toUpperCase(), rest)
        socket.write(Buffer.from([...sent, `${tag} ${status}`, ''].join('\r\n'), 'latin1'))
        if (command.toUpperCase() === 'LOGOUT') socket.end()
      }
    })
  })
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready))
  return {
    port: (server.address() as AddressInfo).port,
    messages,
    commands,
    close: () => {
      for (const socket of sockets) socket.destroy()
      return new Promise((done) => server.close(() => done()))
    },
  }
}
