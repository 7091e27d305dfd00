import type { AddressInfo, Server as NetServer } from 'node:net'
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises'
import { hasStreamedBody } from '../doors/http.ts'
import type { Settings } from '../host/settings.ts'
import type { ClusterHost } from './cluster-host.ts'
import { listenForSuccessor } from './handover/control.ts'
import { Forwarder } from './handover/forward.ts'
import type { JsonLines } from './handover/json-lines.ts'
import type { FromSuccessor } from './handover/messages.ts'
import { Predecessor } from './handover/predecessor.ts'
import { sendSocket } from './handover/send-socket.ts'
import { ClientAddresses } from './http/client-address.ts'
import { createHttp, type Http } from './http/http-server.ts'
import { type GivenSocket, listen } from './http/listening.ts'
import { StallWatch } from './http/stalls.ts'
import { AddressBounds } from './limits/address-bounds.ts'
import { log, report } from './log.ts'
import { openService, type Service } from './service.ts'

export interface Host {
  readonly url: string
  readonly operator: Service['operator']
  /** Finishes what is in progress, refuses what is new, closes every file. */
  stop(): Promise<void>
  /** Done when another process has taken the place of this one, and the last connection is closed. */
  readonly replaced: Promise<void>
}

/** Where a host begins: with a socket that it was given, and perhaps while another one still runs. */
export interface Start {
  readonly socket?: GivenSocket | null
  /** Whether the socket is that of a running host, whose place this one takes. */
  readonly replaces?: boolean
  readonly cluster?: ClusterHost
}

/** How long requests in progress may take when the host stops. */
const DRAIN_MS = 10_000
/** How long clients of a service that continues elsewhere may use their connections once more. */
const LEAVE_MS = 2_000
/** Longer than a connection may be idle. */
const LINGER_MS = 70_000
const LONGEST_MS = 600_000

/** Starts a host: opens the data folder, listens, and wakes what was interrupted. */
export async function startHost(
  settings: Settings,
  { socket = null, replaces = false, cluster }: Start = {},
): Promise<Host> {
  const predecessor = replaces ? await Predecessor.find(settings.data) : null
  const service = await openService(settings, { cluster, predecessor })
  let isLeaving = false
  let forwarder: Forwarder | null = null
  const http = createHttp({
    gateway: service.gateway,
    refusals: service.refusals,
    bodyMemory: service.bodyMemory,
    addresses: new AddressBounds({
      addresses: new ClientAddresses(settings.proxies, cluster?.isNode),
      sockets: settings.addressSockets,
      requests: settings.addressRequests,
      refusals: service.refusals,
    }),
    isStopping: service.isStopping,
    elsewhere: cluster?.elsewhere,
    isLeaving: () => isLeaving || cluster?.isDraining === true,
    forward: () => forwarder?.pass ?? null,
    bodyLimit: settings.bodyLimit,
    bodyTimeout: settings.bodyTimeout,
    stalls: new StallWatch(settings.bodyTimeout),
    streams: hasStreamedBody,
    report,
  })
  const { server } = http
  let url: string
  let control: NetServer | null
  const { promise: replaced, resolve: leave } = Promise.withResolvers<void>()
  try {
    url = await listen(server, socket, settings.port, settings.host)
    // A node of a cluster gives its tenants to the other nodes instead.
    control = cluster
      ? null
      : await listenForSuccessor(settings.data, {
          sendSocket: (connection) => sendSocket(server, connection),
          succeed: (line) => void handOver(line).catch((reason) => report(reason, 'handover')),
        })
  } catch (reason) {
    await service.close()
    throw reason
  }
  service.begin(url)

  /** Everything goes to another process; this one passes on what still comes over its connections. */
  const handOver = async (line: JsonLines<FromSuccessor>) => {
    // A tenant may still be moving to this process.
    await predecessor?.ended()
    log('info', 'Another process takes the place of this one', { pid: process.pid })
    control?.close()
    forwarder = new Forwarder(server.address() as AddressInfo | string)
    isLeaving = true
    http.stopAccepting()
    await service.handOver(line, forwarder.pass)
    await service.close()
    await within(LINGER_MS, http.disconnected())
    forwarder.end()
    await within(LONGEST_MS, http.idle())
    line.end()
    leave()
  }

  const stop = async () => {
    control?.close()
    // Others take over the tenants first: requests that come meanwhile are passed on to them.
    await cluster?.drain()
    // New connections wait in the socket for the next process, or go to other nodes. Each client is served once more over
    // its old one.
    if ((socket !== null || cluster?.isDraining) && !isLeaving) {
      isLeaving = true
      // By the end of a turn, those that wait were accepted.
      await turn()
      http.stopAccepting()
      await service.endStreams()
      await within(LEAVE_MS, http.disconnected())
    }
    // From here on new requests are refused with the advice to come back later, while those in progress finish.
    await service.rest()
    await within(DRAIN_MS, http.idle())
    await closed(http)
    await service.close()
  }
  let stopped: Promise<void> | null = null
  return {
    url,
    operator: service.operator,
    replaced,
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

function closed({ server }: Http): Promise<void> {
  return new Promise((done) => {
    server.close(() => done())
    server.closeAllConnections()
  })
}

async function within(ms: number, work: Promise<void>): Promise<void> {
  const late = new AbortController()
  await Promise.race([work, pause(ms, null, { signal: late.signal }).catch(() => {})])
  late.abort()
}
