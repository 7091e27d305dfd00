import { afterAll, beforeAll, describe } from 'vitest'
import { ranked } from '../../../packages/server/src/cluster/protocol/ranking.ts'
import { stageAt } from '../../hosts/ask.ts'
import { SCENARIOS } from '../../hosts/scenarios.ts'
import { verifies } from '../../verifies.ts'
import { createTenant, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** Scenarios that begin without a tenant. */
const WITHOUT = new Set([
  'a tenant that was only read does not exist',
  'tenants are listed, created and deleted, and what the operator did is recorded',
  'nobody can sign in to a tenant without people, and trying lays nothing out',
  'what the operator is refused carries the id of the request',
])

describe('through a node of a cluster that does not own the tenant', () => {
  let postgres: TestPostgres
  let nodes: readonly TestNode[] = []

  beforeAll(async () => {
    postgres = await startPostgres()
    const env = {
      TILDE_CREATE_TENANTS: 'write',
      TILDE_WEBHOOKS_INSECURE: '1',
      TILDE_WEBHOOK_RETRIES: '300ms,1s,1s,1s,1s',
    }
    nodes = await startNodes(postgres.url, 2, env)
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await postgres?.stop()
  })

  for (const [index, [title, play]] of Object.entries(SCENARIOS).entries())
    verifies('cluster.scenarios', title, async () => {
      const slug = `scene-${index}`
      if (!WITHOUT.has(title)) await createTenant(nodes, slug)
      await play(
        stageAt(() => otherNode(slug).url),
        `/~${slug}`,
      )
    })

  /** A node that the tenant does not belong to. */
  function otherNode(slug: string): TestNode {
    const places = nodes.map(({ name }) => ({ name, session: name, draining: false, layout: 0 }))
    const last = ranked({ slug, pin: null, layout: 0 }, places).at(-1)!
    return nodes.find(({ name }) => name === last.name)!
  }
})
