import { afterAll, beforeAll, expect } from 'vitest'
import { readAddress } from '../../../packages/server/src/cluster/postgres/hosts.ts'
import { PostgresLog } from '../../../packages/server/src/cluster/postgres/postgres-log.ts'
import { verifies } from '../../verifies.ts'
import { startNode } from './nodes.ts'
import { startPostgres, type TestPostgres } from './postgres.ts'

/** The tables as the first version made them. */
const FIRST = [
  'CREATE TABLE tilde_settings (name text PRIMARY KEY, value text NOT NULL)',
  'CREATE SEQUENCE tilde_epochs',
  `CREATE TABLE tilde_nodes (
    session text PRIMARY KEY,
    name text NOT NULL,
    url text NOT NULL,
    beat bigint NOT NULL DEFAULT 0,
    alive boolean NOT NULL DEFAULT true,
    draining boolean NOT NULL DEFAULT false,
    clock bigint NOT NULL,
    layout integer NOT NULL,
    version text NOT NULL,
    joined_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE tilde_tenants (
    slug text PRIMARY KEY,
    owner text,
    released boolean NOT NULL DEFAULT false,
    epoch bigint NOT NULL,
    head bigint NOT NULL DEFAULT 0,
    pin text,
    due bigint,
    layout integer NOT NULL,
    clock bigint NOT NULL DEFAULT 0,
    erased bigint NOT NULL DEFAULT 0,
    snapshot bigint NOT NULL DEFAULT 0,
    snapshot_epoch bigint NOT NULL,
    snapshot_id text NOT NULL,
    snapshot_parts integer NOT NULL) WITH (fillfactor = 50)`,
  'CREATE INDEX tilde_tenants_owner ON tilde_tenants (owner)',
  `CREATE TABLE tilde_log (
    slug text NOT NULL,
    n bigint NOT NULL,
    epoch bigint NOT NULL,
    before bigint NOT NULL,
    changes bytea NOT NULL,
    PRIMARY KEY (slug, n))`,
  'ALTER TABLE tilde_log ALTER COLUMN changes SET STORAGE EXTERNAL',
  `CREATE TABLE tilde_snapshots (
    slug text NOT NULL,
    id text NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (slug, id, part))`,
  'ALTER TABLE tilde_snapshots ALTER COLUMN bytes SET STORAGE EXTERNAL',
]

const SLUGS = ['b', 'a-b', 'ab', 'a']

let postgres: TestPostgres
const logs: PostgresLog[] = []

beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(async () => {
  await Promise.all(logs.map((log) => log.close()))
  await postgres?.stop()
})

function connect(name: string): PostgresLog {
  const log = new PostgresLog({ address: readAddress(postgres.url), name, timeout: 30_000 })
  logs.push(log)
  return log
}

/** The collations of the columns that hold slugs, by table. */
const collations = () =>
  postgres.query(`SELECT table_name, collation_name FROM information_schema.columns
    WHERE column_name = 'slug' AND table_name LIKE 'tilde_%' ORDER BY 1`)

/** Changes whenever the indexes of the tables are built again. */
const indexFiles = () =>
  postgres.query(`SELECT relname, relfilenode FROM pg_class WHERE relname LIKE 'tilde_%_pkey' ORDER BY 1`)

verifies(
  'cluster.tables',
  'tables of the first version are brought forward once, while a node that began before uses them',
  async () => {
    for (const text of FIRST) await postgres.query(text)
    const older = connect('older')
    await older.join({ session: 's', name: 'n', url: 'u', layout: 1, version: 'v' }, 0)
    const epochs = new Map<string, number>()
    for (const slug of SLUGS) {
      await older.saveSnapshotPart(slug, 'first', 0, new Uint8Array([1]))
      epochs.set(slug, (await older.create(slug, 's', { id: 'first', layout: 1, parts: 1 }))!.epoch)
    }
    let isOver = false
    let head = 0
    const appends = async () => {
      for (; !isOver; head++) {
        const slug = 'a-b'
        const epoch = epochs.get(slug)!
        const change = { n: head + 1, epoch, before: 0, bytes: new Uint8Array([head % 256]) }
        // Statements that were prepared before, with columns of the tables that change.
        expect(await older.append([{ slug, epoch, head, changes: [change] }])).toEqual(new Set([slug]))
        expect((await older.find([slug]))[0]).toMatchObject({ slug, head: head + 1 })
        expect(await older.epochAt(slug, head + 1)).toBe(epoch)
      }
    }
    const appended = appends()
    expect((await collations()).map(({ collation_name }) => collation_name)).toEqual([null, null, null])

    await Promise.all(['new-1', 'new-2', 'new-3'].map((name) => connect(name).prepare()))

    const files = await indexFiles()
    const before = head
    await expect.poll(() => head, { timeout: 30_000 }).toBeGreaterThan(before + 3)
    isOver = true
    await appended
    await connect('later').prepare()
    expect((await collations()).map(({ collation_name }) => collation_name)).toEqual(['C', 'C', 'C', 'C'])
    expect(await postgres.query(`SELECT value FROM tilde_settings WHERE name = 'tables'`)).toEqual([{ value: '3' }])
    expect(await indexFiles()).toEqual(files)
    expect((await older.list('', 10)).map(({ slug }) => slug)).toEqual(SLUGS.toSorted())
    expect((await older.read('a-b', 0)).length).toBe(Math.min(head, 1_000))
  },
)

verifies('cluster.tables', 'a node does not start on tables of a newer version', async () => {
  await postgres.query(`UPDATE tilde_settings SET value = '4' WHERE name = 'tables'`)

  await expect(startNode(postgres.url, 'n1')).rejects.toThrow(/have version 4, and this node knows 3 at most/)
})
