import { setTimeout as pause } from 'node:timers/promises'
import { bodyWay } from '../doors/http.ts'
import type { Settings } from '../host/settings/settings.ts'
import type { ClusterHost } from './cluster-host.ts'
import { ClientAddresses } from './http/client-address.ts'
import { createHttp, type Http } from './http/http-server.ts'
import { type GivenSocket, listen } from './http/listening.ts'
import { AddressBounds } from './limits/addresses.ts'
import { AnswerMemory } from './limits/answers.ts'
import { report } from './log.ts'
import { openService, type Service } from './service.ts'

export interface Host {
  readonly url: string
  readonly operator: Service['operator']
  /** Finishes what is in progress, refuses what is new, closes every file. */
  stop(): Promise<void>
}

/** How a host begins: with a socket that it was given, and as a node of a cluster. */
export interface Start {
  readonly socket?: GivenSocket | null
  readonly cluster?: ClusterHost
}

/** How long requests in progress may take when the host stops. */
const DRAIN_MS = 10_000
/** How long clients of a service that continues elsewhere may use their connections once more. */
const LEAVE_MS = 2_000

/** Starts a host: opens the data folder, listens, and wakes what was interrupted. */
export async function startHost(settings: Settings, { socket = null, cluster }: Start = {}): Promise<Host> {
  const service = await openService(settings, cluster)
  let isLeaving = false
  const http = createHttp({
    gateway: service.gateway,
    refusals: service.refusals,
    bodyMemory: service.bodyMemory,
    answerMemory: new AnswerMemory(settings.answerMemory, service.refusals),
    addresses: new AddressBounds({
      addresses: new ClientAddresses(settings.proxies, cluster?.isNode),
      sockets: settings.addressSockets,
      requests: settings.addressRequests,
      refusals: service.refusals,
    }),
    isStopping: service.isStopping,
    elsewhere: cluster?.elsewhere,
    isLeaving: () => isLeaving || cluster?.isDraining === true,
    bodyLimit: settings.bodyLimit,
    bodyTimeout: settings.bodyTimeout,
    bodyWay,
    report,
  })
  const { server } = http
  let url: string
  try {
    url = await listen(server, socket, settings.port, settings.host)
  } catch (reason) {
    await service.close()
    throw reason
  }
  service.begin(url)

  const stop = async () => {
    // Others take over the tenants first: requests that come meanwhile are passed on to them.
    await cluster?.drain()
    // New connections wait in the socket for the next process, or go to other nodes. Each client is served once more over
    // its old one.
    if (socket !== null || cluster?.isDraining) {
      isLeaving = true
      await http.stopAccepting()
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
