import { parentPort, workerData } from 'node:worker_threads'
import type { HttpResponse } from '../../http.ts'
import { loadProgram, type Settings } from '../config.ts'
import { TenantFiles } from '../files.ts'
import { localTenants } from '../local.ts'
import { report } from '../log.ts'
import { Flows, ownBytes, refusalOf } from './flows.ts'
import { FLOWING, type FromWorker, isFlowing, isStream, type Method, type ToWorker } from './messages.ts'
import { Wire } from './wire.ts'

/** What a worker is started with. */
export interface Start {
  readonly settings: Settings
  readonly baseUrl: string
}

const { settings, baseUrl: first } = workerData as Start
let baseUrl = first
const program = await loadProgram(settings.config)
const tenants = localTenants(settings, program, new TenantFiles(settings.data), {
  baseUrl: () => baseUrl,
  book: (slug, at) => wire.send({ do: 'book', slug, at }),
  opened: (slug) => wire.send({ do: 'opened', slug }),
})
const port = parentPort!
const wire: Wire<FromWorker, ToWorker> = new Wire(port, receive)
const flows: Flows = new Flows(wire)
wire.send({ do: 'ready' })

function receive(message: ToWorker): void {
  switch (message.do) {
    case 'call':
      void call(message.id, message.method, message.args)
      break
    case 'begin':
      baseUrl = message.baseUrl
      break
    case 'ping':
      wire.send({ do: 'pong' })
      break
    case 'stop':
      void tenants.closeAll().finally(() => {
        wire.flush()
        process.exit()
      })
      break
    default:
      flows.receive(message)
  }
}

async function call(id: number, method: Method, args: readonly unknown[]): Promise<void> {
  try {
    if (method === 'answer') return await answer(id, args)
    const value = await (tenants[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
    wire.send({ do: 'return', id, value })
  } catch (reason) {
    const problem = refusalOf(reason)
    if (problem.code === 'internal') report(reason, `${method} ${args[0]}`)
    wire.send({ do: 'refuse', id, problem })
  }
}

async function answer(id: number, args: readonly unknown[]): Promise<void> {
  const [slug, ask, place, sender, requestId] = args as Parameters<typeof tenants.answer>
  const inflow = isFlowing(ask.body) ? flows.drink(id) : null
  const given = await tenants.answer(
    slug,
    inflow ? { ...ask, body: inflow as AsyncIterable<Uint8Array> } : ask,
    place,
    sender,
    requestId,
  )
  give(id, given)
  // What is left of a body is not wanted once the answer is whole.
  if (inflow && !isStream(given.body)) await inflow.return()
}

function give(id: number, given: HttpResponse): void {
  const { body } = given
  if (isStream(body)) {
    wire.send({ do: 'return', id, value: { ...given, body: FLOWING } })
    flows.pour(id, body)
  } else if (body instanceof Uint8Array) {
    const bytes = ownBytes(body)
    wire.send({ do: 'return', id, value: { ...given, body: bytes } }, bytes.buffer as ArrayBuffer)
  } else wire.send({ do: 'return', id, value: given })
}
