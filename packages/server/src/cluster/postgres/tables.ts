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

/** Two nodes that start at once would both create the tables: one waits for the other. */
export const LOCK = 'SELECT pg_advisory_xact_lock(8402765113)'
