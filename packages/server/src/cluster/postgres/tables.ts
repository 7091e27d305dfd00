/** The tables of the log. Each statement can be run again. */
export const TABLES: readonly string[] = [
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
]

/** The version of these tables. A database that does not name one has the first. */
export const TABLES_VERSION = 2

/**
 * What brings tables to a version from the one before it. Each statement locks one table: running nodes wait for it, and
 * no two of them can wait for each other. Each can be run again.
 */
export const MIGRATIONS: Readonly<Record<number, readonly string[]>> = {
  // Slugs had the order of the database.
  2: ['tilde_tenants', 'tilde_log', 'tilde_snapshots'].map(
    (table) => `ALTER TABLE ${table} ALTER COLUMN slug TYPE text COLLATE "C"`,
  ),
}
