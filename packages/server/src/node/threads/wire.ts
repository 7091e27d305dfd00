import type { MessagePort, Transferable, Worker } from 'node:worker_threads'

/** A batch of so many leaves at once, so that the other thread is at work while this one gathers the next. */
const MOST = 32

/** One end of the line between two threads. The messages of a tick travel together: waking a thread costs more than they do. */
export class Wire<Out, In> {
  readonly #port: Pick<Worker | MessagePort, 'postMessage'>
  #batch: Out[] = []
  #transfers: Transferable[] = []

  constructor(port: Worker | MessagePort, receive: (message: In) => void) {
    this.#port = port
    const hear = (batch: In[]) => {
      for (const message of batch) receive(message)
      // What could be answered at once does not wait for what else the thread has to do.
      this.flush()
    }
    ;(port as MessagePort).on('message', hear)
  }

  send(message: Out, transfer?: Transferable): void {
    if (this.#batch.push(message) === 1) setImmediate(() => this.flush())
    if (transfer) this.#transfers.push(transfer)
    if (this.#batch.length >= MOST) this.flush()
  }

  /** The newest message that has not left yet: it may still be added to. */
  get last(): Out | undefined {
    return this.#batch.at(-1)
  }

  /** Sends what has been gathered now. */
  flush(): void {
    if (this.#batch.length === 0) return
    this.#port.postMessage(this.#batch, this.#transfers)
    this.#batch = []
    this.#transfers = []
  }
}
