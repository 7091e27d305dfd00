import { Socket } from 'node:net'
import { LISTENING_FD } from './send-socket.ts'

// As a bare handle: the receiver would read from a Socket, and accept connections of a Server before it is ready.
const { _handle: handle } = new Socket({ fd: LISTENING_FD, readable: false, writable: false }) as unknown as {
  readonly _handle: Socket
}
process.send?.('socket', handle, () => process.disconnect?.())
