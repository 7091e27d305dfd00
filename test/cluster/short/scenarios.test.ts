import { afterAll, beforeAll, describe, test } from 'vitest'
import { stageAt } from '../../hosts/ask.ts'
import { SCENARIOS } from '../../hosts/scenarios.ts'
import { createTenant, startNodes, type TestNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** What a host does with a first write, which a cluster does not take. */
const BY_WRITE = new Set([
  'a tenant that was only read does not exist',
  'tenants are listed, created and deleted, and what the operator did is recorded',
])
/** Scenarios about a tenant that does not exist. */
const WITHOUT = new Set([
  'nobody can sign in to a tenant without people, and trying lays nothing out',
  'what the operator is refused carries the id of the request',
])

const PLAYED = Object.entries(SCENARIOS).filter(([title]) => !BY_WRITE.has(title))

describe('through a node of a cluster that does not own the tenant', () => {
  let postgres: TestPostgres
  let nodes: readonly TestNode[] = []

  beforeAll(async () => {
    postgres = await startPostgres()
    const env = { TILDE_WEBHOOKS_INSECURE: '1', TILDE_WEBHOOK_RETRIES: '300ms,1s,1s,1s,1s' }
    nodes = await startNodes(postgres.url, 2, env)
  })
  afterAll(async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await postgres?.stop()
  })

  test.each(PLAYED)('%s', async (title, play) => {
    const slug = `scene-${PLAYED.findIndex(([one]) => one === title)}`
    const through = WITHOUT.has(title) ? nodes[0]! : (await createTenant(nodes, slug)).other
    await play(
      stageAt(() => through.url),
      `/~${slug}`,
    )
  })
})
