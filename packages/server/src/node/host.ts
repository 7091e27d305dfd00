import type { AddressInfo } from 'node:net'
import { hasStreamedBody } from '../http.ts'
import { AddressBounds } from './address-bounds.ts'
import { ClientAddresses } from './client-address.ts'
import type { ClusterHost } from './cluster-host.ts'
import type { Settings } from './config.ts'
import { createHttp } from './http-server.ts'
import { report } from './log.ts'
import { openService, type Service } from './service.ts'
import { StallWatch } from './stalls.ts'

export interface Host {
  readonly url: string
  readonly operator: Service['operator']
  /** Finishes what is in progress, refuses what is new, closes every file. */
  stop(): Promise<void>
}

const DRAIN_MS = 10_000

/** Starts a host: opens the data folder, listens, and wakes what was interrupted. */
export async function startHost(settings: Settings, cluster?: ClusterHost): Promise<Host> {
  const service = await openService(settings, cluster)
  const { server, idle } = createHttp({
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
    isLeaving: cluster && (() => cluster.isDraining),
    bodyLimit: settings.bodyLimit,
    bodyTimeout: settings.bodyTimeout,
    stalls: new StallWatch(settings.bodyTimeout),
    streams: hasStreamedBody,
    report,
  })
  try {
    await new Promise<void>((done, failed) => {
      server.once('error', failed)
      server.listen(settings.port, settings.host, done)
    })
  } catch (reason) {
    await service.close()
    throw reason
  }
  const { port } = server.address() as AddressInfo
  const name = settings.host.includes(':') ? `[${settings.host}]` : settings.host
  const url = `http://${name}:${port}`
  service.begin(url)

  const stop = async () => {
    // From here on new requests are refused with the advice to come back later, while those in progress finish.
    await service.rest()
    await Promise.race([idle(), new Promise((late) => setTimeout(late, DRAIN_MS).unref())])
    const closed = new Promise<void>((done) => server.close(() => done()))
    server.closeAllConnections()
    await closed
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
