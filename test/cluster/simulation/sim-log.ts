import type {
  Append,
  Change,
  NodeRow,
  SnapshotHead,
  TenantRow,
} from '../../../packages/server/src/cluster/protocol/replicated-log.ts'

interface Tenant extends TenantRow {
  readonly released: boolean
  readonly snapshotHead: SnapshotHead
}

interface Node extends NodeRow {
  readonly alive: boolean
  readonly clock: number
}

/**
 * What PostgreSQL keeps, as plain values. Each method is one statement, whole or not at all.
 */
export class LogState {
  epochs = 0
  nodes = new Map<string, Node>()
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

  join(node: Omit<NodeRow, 'beat' | 'draining'>, clock: number): void {
    this.nodes.set(node.session, { ...node, beat: 0, draining: false, alive: true, clock })
  }

  beat(session: string, clock: number): readonly NodeRow[] | null {
    const node = this.nodes.get(session)
    const alive = [...this.nodes.values()].filter((one) => one.alive)
    if (!node?.alive) return null
    this.nodes.set(session, { ...node, beat: node.beat + 1, clock: Math.max(node.clock, clock) })
    return alive.sort((a, b) => compare(a.name, b.name) || compare(a.session, b.session)).map(toNode)
  }

  expire(session: string, beat: number): boolean {
    const node = this.nodes.get(session)
    if (!node?.alive || node.beat !== beat) return false
    this.nodes.set(session, { ...node, alive: false })
    return true
  }

  leave(session: string): void {
    const node = this.nodes.get(session)
    if (node) this.nodes.set(session, { ...node, alive: false })
  }

  setDraining(name: string, draining: boolean): boolean {
    const found = [...this.nodes.values()].filter((node) => node.name === name && node.alive)
    for (const node of found) this.nodes.set(node.session, { ...node, draining })
    return found.length > 0
  }

  find(slugs: readonly string[]): readonly TenantRow[] {
    return slugs.flatMap((slug) => {
      const tenant = this.tenants.get(slug)
      return tenant ? [toTenant(tenant)] : []
    })
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

  remove(slug: string, epoch: number): boolean {
    if (this.tenants.get(slug)?.epoch !== epoch) return false
    this.tenants.delete(slug)
    this.changes.delete(slug)
    for (const key of [...this.parts.keys()]) if (key.startsWith(`${slug} `)) this.parts.delete(key)
    return true
  }

  claim(slugs: readonly string[], session: string, layout: number): readonly TenantRow[] {
    if (!this.nodes.get(session)?.alive) return []
    return slugs.flatMap((slug) => {
      const tenant = this.tenants.get(slug)
      if (!tenant || tenant.layout > layout) return []
      const { owner } = tenant
      if (owner !== null && owner !== session && this.nodes.get(owner)?.alive) return []
      const clock = owner === null || owner === session ? 0 : (this.nodes.get(owner)?.clock ?? 0)
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
    const clock = Math.max(tenant.clock, (tenant.owner === null ? undefined : this.nodes.get(tenant.owner)?.clock) ?? 0)
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
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function toNode({ session, name, url, beat, draining, layout, version }: Node): NodeRow {
  return { session, name, url, beat, draining, layout, version }
}

function toTenant({ released: _, snapshotHead: __, ...row }: Tenant): TenantRow {
  return row
}
