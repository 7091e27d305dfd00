import type { ReplicaThread } from '../files/thread.ts'
import type { Membership } from '../protocol/membership.ts'
import type { OwnedTenant } from '../protocol/owned-tenant.ts'
import type { ReplicatedLog } from '../protocol/replicated-log.ts'

/** The upper bounds of the histograms, in seconds. */
const BOUNDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30]

class Histogram {
  readonly counts = new Array<number>(BOUNDS.length + 1).fill(0)
  sum = 0
  total = 0

  add(ms: number): void {
    const seconds = ms / 1_000
    let at = 0
    while (at < BOUNDS.length && seconds > BOUNDS[at]!) at++
    this.counts[at]!++
    this.sum += seconds
    this.total++
  }

  lines(name: string, help: string): string[] {
    let below = 0
    const buckets = BOUNDS.map((bound, i) => {
      below += this.counts[i]!
      return `${name}_bucket{le="${bound}"} ${below}`
    })
    return [
      `# HELP ${name} ${help}`,
      `# TYPE ${name} histogram`,
      ...buckets,
      `${name}_bucket{le="+Inf"} ${this.total}`,
      `${name}_sum ${this.sum}`,
      `${name}_count ${this.total}`,
    ]
  }
}

/** What a node counts of its part in the cluster. No tenant is named: their number has no bound. */
export class ClusterNumbers {
  readonly #gate = new Histogram()
  readonly #append = new Histogram()
  claims = 0
  failures = 0
  changes = 0
  bytes = 0

  /** An answer waited so long at the gate. */
  passed(ms: number): void {
    this.#gate.add(ms)
  }

  get gateSeconds(): { readonly sum: number; readonly count: number } {
    return { sum: this.#gate.sum, count: this.#gate.total }
  }

  /** The same log, with its appends counted. */
  counted(log: ReplicatedLog): ReplicatedLog {
    const append: ReplicatedLog['append'] = async (appends) => {
      const begun = performance.now()
      const taken = await log.append(appends)
      this.#append.add(performance.now() - begun)
      for (const { changes } of appends) {
        this.changes += changes.length
        for (const { bytes } of changes) this.bytes += bytes.length
      }
      return taken
    }
    return new Proxy(log, {
      get: (target, name) => {
        if (name === 'append') return append
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  page(owned: readonly OwnedTenant[], membership: Membership, replicas: ReplicaThread, snapshots: number): string {
    const pending = owned.reduce((sum, tenant) => sum + tenant.pending.length, 0)
    const held = owned.reduce((sum, tenant) => sum + tenant.held, 0)
    const epoch = owned.reduce((most, tenant) => Math.max(most, tenant.epoch), 0)
    const lines = [
      ...one('tilde_cluster_nodes', 'gauge', 'Nodes that are alive.', membership.nodes.length),
      ...one(
        'tilde_cluster_lease_trusted',
        'gauge',
        'Whether this node may answer for its tenants.',
        Number(membership.isTrusted),
      ),
      ...one('tilde_cluster_owned_tenants', 'gauge', 'Tenants that this node owns.', owned.length),
      ...one('tilde_cluster_epoch', 'gauge', 'The highest epoch of a tenant of this node.', epoch),
      ...one('tilde_cluster_claims_total', 'counter', 'Tenants that this node has claimed.', this.claims),
      ...one('tilde_cluster_pending_changes', 'gauge', 'Commits that are not in the log.', pending),
      ...one('tilde_cluster_held_answers', 'gauge', 'Answers that wait for the log.', held),
      ...one(
        'tilde_cluster_followed_tenants',
        'gauge',
        'Tenants of other nodes with a replica here.',
        replicas.followed,
      ),
      ...one('tilde_cluster_lag_changes', 'gauge', 'Changes that these replicas are behind the log.', replicas.lag),
      ...one('tilde_cluster_appended_changes_total', 'counter', 'Changes that were sent to the log.', this.changes),
      ...one(
        'tilde_cluster_appended_bytes_total',
        'counter',
        'Bytes of changes that were sent to the log.',
        this.bytes,
      ),
      ...one('tilde_cluster_snapshots_total', 'counter', 'Snapshots that this node has made.', snapshots),
      ...one(
        'tilde_cluster_failures_total',
        'counter',
        'Calls of the log and of other nodes that failed.',
        this.failures,
      ),
      ...this.#gate.lines('tilde_cluster_gate_seconds', 'How long answers wait for the log.'),
      ...this.#append.lines('tilde_cluster_append_seconds', 'How long the log takes for an append.'),
    ]
    return `${lines.join('\n')}\n`
  }
}

function one(name: string, kind: string, help: string, value: number): string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${kind}`, `${name} ${value}`]
}
