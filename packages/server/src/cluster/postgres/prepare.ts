import { SettingError } from '../../host/settings/setting-error.ts'
import type { Database } from './database.ts'
import { HAS_TABLES, LOCK, SET_VERSION, UNLOCK, VERSION } from './statements.ts'

/** Milliseconds that a change of the tables may take, or that another node is waited for which makes it. */
const LONGEST = 600_000

/** Makes the tables where they are not there, and brings older ones forward. Nodes that start at once do so in turns. */
export async function prepareTables(database: Database): Promise<void> {
  if ((await versionOf(database)) === TABLES_VERSION) return
  const run = (text: string) => database.query(text, [], LONGEST)
  await run(LOCK)
  try {
    const version = await versionOf(database)
    if (version === 0) for (const text of TABLES) await run(text)
    else
      for (let next = version + 1; next <= TABLES_VERSION; next++) for (const text of MIGRATIONS[next]!) await run(text)
    await database.query(SET_VERSION, [String(TABLES_VERSION)])
  } finally {
    await run(UNLOCK)
  }
}

/** The version of the tables; 0 when there are none. */
async function versionOf(database: Database): Promise<number> {
  if ((await database.query(HAS_TABLES)).length === 0) return 0
  const [row] = await database.query(VERSION)
  const version = Number(row?.value ?? 1)
  if (version <= TABLES_VERSION) return version
  throw new SettingError(
    `The tables of the cluster have version ${version}, and this node knows ${TABLES_VERSION} at most. Start a newer version of it.`,
  )
}

/** The mailbox of the service. */
const MAIL_TABLES: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS tilde_mail_addresses (address text PRIMARY KEY, slug text COLLATE "C" NOT NULL)',
  'CREATE TABLE IF NOT EXISTS tilde_mailboxes (name text PRIMARY KEY, reader text NOT NULL, place text)',
]

/** The tables of the log. Each statement can be run again. */
const TABLES: readonly string[] = [
  'CREATE TABLE IF NOT EXISTS tilde_settings (name text PRIMARY KEY, value text NOT NULL)',
  // One epoch per claim, over all tenants: a tenant that was deleted and made again has no epoch twice.
  'CREATE SEQUENCE IF NOT EXISTS tilde_epochs',
  `CREATE TABLE IF NOT EXISTS tilde_nodes (
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
  // Slugs have the order of their bytes everywhere. Every append changes one row: room on the page lets PostgreSQL do so in place.
  `CREATE TABLE IF NOT EXISTS tilde_tenants (
    slug text COLLATE "C" PRIMARY KEY,
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
  'CREATE INDEX IF NOT EXISTS tilde_tenants_owner ON tilde_tenants (owner)',
  `CREATE TABLE IF NOT EXISTS tilde_log (
    slug text COLLATE "C" NOT NULL,
    n bigint NOT NULL,
    epoch bigint NOT NULL,
    before bigint NOT NULL,
    changes bytea NOT NULL,
    PRIMARY KEY (slug, n))`,
  // Compressing a change would cost more than its bytes.
  'ALTER TABLE tilde_log ALTER COLUMN changes SET STORAGE EXTERNAL',
  `CREATE TABLE IF NOT EXISTS tilde_snapshots (
    slug text COLLATE "C" NOT NULL,
    id text NOT NULL,
    part integer NOT NULL,
    bytes bytea NOT NULL,
    saved_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (slug, id, part))`,
  'ALTER TABLE tilde_snapshots ALTER COLUMN bytes SET STORAGE EXTERNAL',
  ...MAIL_TABLES,
]

/** The version of these tables. A database that does not name one has the first. */
const TABLES_VERSION = 3

/**
 * What brings tables to a version from the one before it. Each statement locks one table: running nodes wait for it, and
 * no two of them can wait for each other. Each can be run again.
 */
const MIGRATIONS: Readonly<Record<number, readonly string[]>> = {
  // Slugs had the order of the database.
  2: ['tilde_tenants', 'tilde_log', 'tilde_snapshots'].map(
    (table) => `ALTER TABLE ${table} ALTER COLUMN slug TYPE text COLLATE "C"`,
  ),
  3: MAIL_TABLES,
}
