import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../machines/cluster.ts'
import { LEASE } from '../machines/node.ts'
import { insist, request } from '../workload/request.ts'
import type { Fault, Scene } from './fault.ts'

/** Moments of the protocol: the statement of PostgreSQL that each one is, and when it counts. */
const MOMENTS: Readonly<Record<string, string>> = {
  claim: 'BEFORE UPDATE ON tilde_tenants FOR EACH ROW WHEN (OLD.epoch <> NEW.epoch)',
  snapshot: 'BEFORE INSERT ON tilde_snapshots FOR EACH STATEMENT',
  trim: 'AFTER DELETE ON tilde_log FOR EACH STATEMENT',
  erasure: 'BEFORE UPDATE ON tilde_tenants FOR EACH ROW WHEN (OLD.erased < NEW.erased)',
}

/** Seconds that a statement is held back, so that its node can be killed in the middle of it. */
const HELD = 0.5
/** Seconds to wait for a moment to come. */
const WAIT = 20

/** Milliseconds after which an erased value must have left PostgreSQL. */
const GONE = 60_000

/** Nodes that are killed in the middle of one step of the protocol. */
export const MOMENT_FAULTS: readonly Fault[] = [
  {
    name: 'kill -9 during a claim',
    async run(scene) {
      const owner = await scene.cluster.ownerOf(scene.tenant)
      await killAt(scene, 'claim', async () => {
        await owner.end('SIGKILL')
      })
      await pause(1.5 * LEASE * 1_000)
      scene.cluster.startNode(owner)
    },
  },
  {
    name: 'kill -9 during a snapshot',
    async run(scene) {
      await killAt(scene, 'snapshot', async () => {})
      await pause(scene.chance.between(0, LEASE * 1_000))
    },
  },
  {
    name: 'kill -9 while the log is trimmed',
    async run(scene) {
      await killAt(scene, 'trim', async () => {})
      await pause(scene.chance.between(0, LEASE * 1_000))
    },
  },
  {
    name: 'kill -9 during an erasure',
    async run(scene) {
      const { cluster, tenant, note, violate } = scene
      const path = `/~${tenant}/Contact`
      const secret = `secret-${Math.floor(scene.chance.next() * 1e9)}`
      const { $id } = await insist(cluster.urls, 'POST', path, { name: secret }, { 'idempotency-key': secret })
      await killAt(scene, 'erasure', async () => {
        void request(scene.chance.pick(cluster.urls), 'POST', `${path}/${$id}/erase`, { reason: 'test' })
      })
      await cluster.restore(note)
      await insist(cluster.urls, 'POST', `${path}/${$id}/erase`, { reason: 'test' })
      note(`${$id} erased`)
      if (!(await isGone(cluster, secret)))
        violate({ kind: 'kept', message: `${tenant}: the log in PostgreSQL still has the value of ${$id}` })
    },
  },
]

/** Whether a string leaves the changes in PostgreSQL: a snapshot after the erasure lets them go. */
async function isGone({ database }: Cluster, text: string): Promise<boolean> {
  const until = Date.now() + GONE
  while (Date.now() < until) {
    const [count] = await database.query(
      `SELECT count(*) FROM tilde_log WHERE position(convert_to('${text}', 'UTF8') IN changes) > 0`,
    )
    if (count === '0') return true
    await pause(500)
  }
  return false
}

/** Creates the triggers that delay statements while their moment is requested. */
export async function prepareMoments({ database }: Cluster): Promise<void> {
  const triggers = Object.entries(MOMENTS).map(
    ([moment, when]) => `CREATE TRIGGER test_${moment} ${when} EXECUTE FUNCTION test_hold('${moment}')`,
  )
  const sql = [
    'CREATE TABLE test_moments (moment text PRIMARY KEY)',
    'GRANT SELECT ON test_moments TO PUBLIC',
    `CREATE FUNCTION test_hold() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN
        IF EXISTS (SELECT 1 FROM test_moments WHERE moment = TG_ARGV[0]) THEN PERFORM pg_sleep(${HELD}); END IF;
        IF TG_OP = 'DELETE' THEN RETURN OLD; END IF;
        RETURN NEW;
      END $$`,
    // Returns the name of the first connection that is held back, and its process.
    `CREATE FUNCTION test_held() RETURNS text LANGUAGE plpgsql AS $$
      DECLARE found text;
      BEGIN
        FOR i IN 1..${WAIT * 100} LOOP
          PERFORM pg_stat_clear_snapshot();
          SELECT application_name || '|' || pid INTO found FROM pg_stat_activity
          WHERE usename = 'tilde' AND wait_event = 'PgSleep' LIMIT 1;
          IF found IS NOT NULL THEN RETURN found; END IF;
          PERFORM pg_sleep(0.01);
        END LOOP;
        RETURN NULL;
      END $$`,
    ...triggers,
  ]
  await database.query(sql.join(';\n'))
}

/** Holds the statements of a moment back, and kills the node whose statement is held first. */
async function killAt({ cluster, chance, note }: Scene, moment: string, begin: () => Promise<void>): Promise<void> {
  await cluster.database.query(`INSERT INTO test_moments VALUES ('${moment}')`)
  try {
    const held = cluster.database.query('SELECT test_held()', 'tilde', (WAIT + 5) * 1_000)
    await begin()
    const [name, pid] = ((await held)[0] ?? '').split('|')
    const node = cluster.nodes.find(({ machine }) => name?.split(' ').includes(machine))
    if (node === undefined) return note(`no ${moment} came`)
    await node.end('SIGKILL')
    // Otherwise PostgreSQL finishes the statement of the dead node.
    const isUndone = chance.next() < 0.5
    if (isUndone) await cluster.database.query(`SELECT pg_terminate_backend(${pid})`)
    note(`${node.machine} killed during a ${moment}${isUndone ? ', which is undone' : ''}`)
  } finally {
    await cluster.database.query('DELETE FROM test_moments')
  }
}
