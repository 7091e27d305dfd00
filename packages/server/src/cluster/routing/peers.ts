import type { HttpResponse } from '../../doors/http.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import type { Membership } from '../protocol/membership.ts'
import { ranked } from '../protocol/ranking.ts'
import type { NodeRow } from '../protocol/replicated-log.ts'
import type { Directory } from './directory.ts'
import type { Forwarder } from './forward.ts'

/** What a node asks of other nodes about their tenants. */
export class Peers {
  readonly #membership: Membership
  readonly #directory: Directory
  readonly #forwarder: Forwarder

  constructor(membership: Membership, directory: Directory, forwarder: Forwarder) {
    this.#membership = membership
    this.#directory = directory
    this.#forwarder = forwarder
  }

  /** The other node that owns a tenant, or that will when it is asked; undefined when that is this one. */
  async nodeOf(slug: string): Promise<NodeRow | undefined> {
    const row = await this.#directory.find(slug)
    if (!row) return undefined
    const { nodes, session } = this.#membership
    const node = this.#membership.nodeOf(row.owner) ?? ranked(row, nodes)[0]
    return node?.session === session ? undefined : node
  }

  /** Lets a node bring its replica near the end of the log, so that requests wait for the rest only. */
  async warm(slug: string, session: string | null): Promise<void> {
    const node = this.#membership.nodeOf(session)
    if (node) await this.#forwarder.ask(node, '/operator/cluster/warm', { tenant: slug }).catch(() => {})
  }

  /** Lets a node open a tenant that was given to it. */
  async take(slug: string, session: string | null): Promise<void> {
    const node = this.#membership.nodeOf(session)
    if (node) await this.#forwarder.ask(node, '/operator/cluster/take', { tenant: slug }).catch(() => {})
  }

  /** The tasks on the other nodes, as far as they answer. */
  async tasks(): Promise<readonly object[]> {
    const { nodes, session } = this.#membership
    const others = nodes.filter((node) => node.session !== session)
    const found = await Promise.allSettled(
      others.map(async (node) => {
        const answer = await this.#forwarder.ask(node, '/operator/cluster/tasks', {})
        return ((await answer.json()) as { results?: readonly object[] }).results ?? []
      }),
    )
    return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))
  }

  /** Makes a call of this node itself at the node that has the tenant: a fork, or the receiver of an e-mail. */
  async pass(node: NodeRow, { request, sender }: TenantCall): Promise<HttpResponse> {
    const answer = await this.#forwarder.pass(node, request, sender.kind === 'secret' ? sender.secret : null)
    return { status: answer.status, headers: {}, body: await answer.text() }
  }

  /** Whether a tenant of another node knows a key. */
  async verify(node: NodeRow, slug: string, secret: string): Promise<boolean> {
    const answer = await this.#forwarder.ask(node, '/operator/cluster/verify', { tenant: slug, secret })
    return answer.ok && ((await answer.json()) as { valid: boolean }).valid
  }
}
