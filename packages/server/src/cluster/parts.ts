import { LAYOUT_VERSION } from '@tildebase/tenant/internal'
import type { Settings } from '../host/settings/settings.ts'
import { operatorTest } from '../node/secrets/keys.ts'
import { ReplicaThread } from './files/thread.ts'
import { ClusterNumbers } from './operator/numbers.ts'
import type { LogGuard } from './protocol/log-guard.ts'
import { Membership } from './protocol/membership.ts'
import { Ownership } from './protocol/ownership.ts'
import type { ReplicatedLog, TenantRow } from './protocol/replicated-log.ts'
import { Directory } from './routing/directory.ts'
import { Forwarder } from './routing/forward.ts'
import { NodeProofs } from './routing/node-proof.ts'
import { Peers } from './routing/peers.ts'
import { Router } from './routing/router.ts'
import { SYSTEM_TIME } from './system-time.ts'
import { TenantThreads } from './tenant-threads.ts'

/** What the parts of a node tell. */
export interface PartEvents {
  /** The lease was renewed, or the nodes have changed. */
  renewed(): void
  /** This node was declared dead. */
  expired(): void
  claimed(row: TenantRow): void
  lost(slug: string): void
  report(reason: unknown, doing: string): void
}

/** The parts of a node that exist before it joins. */
export interface Parts {
  readonly log: ReplicatedLog
  readonly proofs: NodeProofs
  readonly numbers: ClusterNumbers
  readonly directory: Directory
  readonly forwarder: Forwarder
  readonly replicas: ReplicaThread
  readonly threads: TenantThreads
  readonly membership: Membership
  readonly ownership: Ownership
  readonly peers: Peers
  readonly router: Router
  /** How long a request waits at this moment for what the log has to tell, in milliseconds. */
  readonly patience: () => number
}

/** Builds the parts of a node. `url` is where other nodes reach it. */
export function createParts(
  settings: Settings,
  log: ReplicatedLog,
  guard: LogGuard,
  url: string,
  events: PartEvents,
): Parts {
  const { nodeName, lease } = settings.cluster!
  const { report } = events
  const time = SYSTEM_TIME
  const [secretKey, operatorKey] = [settings.secretKey!, settings.rootKey!]
  const proofs = new NodeProofs({ secretKey, operatorKey, url })
  const node = { name: nodeName, url, layout: LAYOUT_VERSION, version: process.version }
  const numbers = new ClusterNumbers()
  const directory = new Directory(log)
  const forwarder = new Forwarder(proofs, operatorTest(operatorKey))
  const replicas = new ReplicaThread(settings.cluster!, settings.data)
  const threads = new TenantThreads({ replicas, time, underWay: (slug) => router.underWay(slug) })
  const membership = new Membership({
    log,
    time,
    node,
    lease,
    newSession: () => proofs.newSession(node),
    isGenuine: proofs.isGenuine,
    renewed: events.renewed,
    expired: events.expired,
    report,
  })
  const ownership = new Ownership({
    log: numbers.counted(log),
    time,
    host: threads,
    membership,
    layout: LAYOUT_VERSION,
    report,
    claimed: events.claimed,
    lost: events.lost,
  })
  const peers = new Peers(membership, directory, forwarder)
  const { hostSuffix } = settings
  const patience = () => (guard.hasGoneBack ? 0 : settings.cluster!.patience)
  const router: Router = new Router({
    ...{ membership, ownership, directory, forwarder },
    ...{ hostSuffix, patience, proofs, report },
  })
  return {
    log,
    proofs,
    numbers,
    directory,
    forwarder,
    replicas,
    threads,
    membership,
    ownership,
    peers,
    router,
    patience,
  }
}
