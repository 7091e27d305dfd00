import type {
  Append,
  Change,
  SnapshotHead,
  TenantRow,
} from '../../../packages/server/src/cluster/protocol/replicated-log.ts'
import { compare, NodeState } from './sim-nodes.ts'

interface Tenant extends TenantRow {
  readonly released: boolean
  readonly snapshotHead: SnapshotHead
}

/** What PostgreSQL keeps, as plain values. Each method is one statement, whole or not at all. */
export class LogState extends NodeState {
  epochs = 0
  tenants = new Map<string, Tenant>()
  changes = new Map<string, Change[]>()
  parts = new Map<string, Uint8Array>()
  settings = new Map<string, string>()
  /** Mistakes that the simulation must find. */
  isFenced = true

  copy(): LogState {
    const copy = new LogState()
    copy.epochs = this.epochs
    copy.nodes = new Map(this.nodes)
    copy.tenants = new Map(this.tenants)
    copy.changes = new Map([...this.changes].map(([slug, changes]) => [slug, [...changes]]))
    copy.parts = new Map(this.parts)
    copy.settings = new Map(this.settings)
    copy.isFenced = this.isFenced
    return copy
  }

  find(slugs: readonly string[]): readonly TenantRow[] {
    return slugs.flatMap((slug) => {
      const tenant = this.tenants.get(slug)
      return tenant ? [toTenant(tenant)] : []
    })
  }

  list(after: string, most: number): readonly TenantRow[] {
    return this.#sorted()
      .filter(({ slug }) => slug > after)
      .slice(0, most)
  }

  page(after: string, offset: number, most: number): { readonly rows: readonly TenantRow[]; readonly total: number } {
    const rows = this.#sorted().filter(({ slug }) => slug > after)
    return { rows: rows.slice(offset, offset + most), total: this.tenants.size }
  }

  counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { owner } of this.tenants.values()) counts.set(owner ?? '', (counts.get(owner ?? '') ?? 0) + 1)
    return counts
  }

  orphans(session: string, most: number): readonly TenantRow[] {
    return [...this.tenants.values()]
      .filter(({ due, owner, released }) => due !== null && ((owner === session && released) || !this.isAlive(owner)))
      .slice(0, most)
      .map(toTenant)
  }

  setDue(slug: string, epoch: number, due: number | null): void {
    const tenant = this.tenants.get(slug)
    if (tenant?.epoch === epoch) this.tenants.set(slug, { ...tenant, due })
  }

  setPin(slug: string, pin: string | null): boolean {
    const tenant = this.tenants.get(slug)
    if (tenant) this.tenants.set(slug, { ...tenant, pin })
    return tenant !== undefined
  }

  create(slug: string, session: string, first: Omit<SnapshotHead, 'n' | 'epoch'>): TenantRow | null {
    const epoch = ++this.epochs
    if (this.tenants.has(slug)) return null
    const { layout } = first
    const snapshotHead = { ...first, n: 0, epoch: 0 }
    const row = { slug, owner: session, epoch, head: 0, pin: null, due: null, layout, snapshot: 0, erased: 0, clock: 0 }
    this.tenants.set(slug, { ...row, released: false, snapshotHead })
    return row
  }

  remove(slug: string, epoch: number, onlyEmpty = false): boolean {
    const tenant = this.tenants.get(slug)
    if (tenant?.epoch !== epoch || (onlyEmpty && tenant.head > 0)) return false
    this.tenants.delete(slug)
    this.changes.delete(slug)
    for (const key of [...this.parts.keys()]) if (key.startsWith(`${slug} `)) this.parts.delete(key)
    return true
  }

  claim(slugs: readonly string[], session: string, layout: number): readonly TenantRow[] {
    if (!this.isAlive(session)) return []
    return slugs.flatMap((slug) => {
      const tenant = this.tenants.get(slug)
      if (!tenant || tenant.layout > layout) return []
      const { owner } = tenant
      if (owner !== session && this.isAlive(owner)) return []
      const clock = owner === session ? 0 : this.clockOf(owner)
      const claimed = {
        ...tenant,
        owner: session,
        released: false,
        epoch: ++this.epochs,
        due: 0,
        clock: Math.max(tenant.clock, clock),
      }
      this.tenants.set(slug, claimed)
      return [toTenant(claimed)]
    })
  }

  release(slug: string, epoch: number, to: string | null): boolean {
    const tenant = this.tenants.get(slug)
    if (tenant?.epoch !== epoch) return false
    const clock = Math.max(tenant.clock, this.clockOf(tenant.owner))
    this.tenants.set(slug, { ...tenant, owner: to, released: true, epoch: ++this.epochs, clock })
    return true
  }

  append(appends: readonly Append[]): ReadonlySet<string> {
    const taken = new Set<string>()
    for (const { slug, epoch, head, changes } of appends) {
      const tenant = this.tenants.get(slug)
      if (!tenant || (this.isFenced && (tenant.epoch !== epoch || tenant.head !== head))) continue
      const erased = Math.max(tenant.erased, changes.findLast(({ erases }) => erases)?.n ?? 0)
      this.tenants.set(slug, { ...tenant, head: changes.at(-1)!.n, erased })
      const kept = (this.changes.get(slug) ?? []).filter(({ n }) => n < changes[0]!.n)
      this.changes.set(slug, [...kept, ...changes])
      taken.add(slug)
    }
    return taken
  }

  settle(owned: readonly { readonly slug: string; readonly epoch: number }[]): ReadonlyMap<string, number> {
    return new Map(
      owned.flatMap(({ slug, epoch }) => {
        const tenant = this.tenants.get(slug)
        return tenant && (tenant.epoch === epoch || !this.isFenced) ? [[slug, tenant.head] as const] : []
      }),
    )
  }

  read(slug: string, after: number): readonly Change[] {
    return (this.changes.get(slug) ?? []).filter(({ n }) => n > after).slice(0, 1000)
  }

  epochAt(slug: string, at: number): number | null {
    const change = (this.changes.get(slug) ?? []).find(({ n }) => n === at)
    const head = this.tenants.get(slug)?.snapshotHead
    return change?.epoch ?? (head?.n === at ? head.epoch : null)
  }

  heads(slugs: readonly string[]): readonly TenantRow[] {
    return this.find(slugs)
  }

  snapshot(slug: string): SnapshotHead | null {
    const tenant = this.tenants.get(slug)
    return tenant ? { ...tenant.snapshotHead, layout: tenant.layout } : null
  }

  snapshotPart(slug: string, id: string, part: number): Uint8Array | null {
    return this.parts.get(`${slug} ${id} ${part}`) ?? null
  }

  saveSnapshotPart(slug: string, id: string, part: number, bytes: Uint8Array): void {
    const key = `${slug} ${id} ${part}`
    if (!this.parts.has(key)) this.parts.set(key, bytes)
  }

  publishSnapshot(slug: string, head: SnapshotHead): boolean {
    const tenant = this.tenants.get(slug)
    if (!tenant) return false
    const { snapshotHead: old, layout } = tenant
    const isNewer = old.n < head.n || (old.n === head.n && layout < head.layout)
    const isThere =
      (old.n === head.n && old.epoch === head.epoch) ||
      (this.changes.get(slug) ?? []).some(({ n, epoch }) => n === head.n && epoch === head.epoch)
    if (!isNewer || !isThere) return false
    this.tenants.set(slug, { ...tenant, snapshot: head.n, snapshotHead: head, layout: head.layout })
    this.changes.set(
      slug,
      (this.changes.get(slug) ?? []).filter(({ n }) => n > head.n),
    )
    for (let part = 0; part < old.parts; part++) this.parts.delete(`${slug} ${old.id} ${part}`)
    return true
  }

  #sorted(): TenantRow[] {
    return [...this.tenants.values()].sort((a, b) => compare(a.slug, b.slug)).map(toTenant)
  }
}

function toTenant({ released: _, snapshotHead: __, ...row }: Tenant): TenantRow {
  return row
}
