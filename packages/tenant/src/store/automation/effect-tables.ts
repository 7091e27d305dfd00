/** What runs of workflows wait for outside of themselves, and the secrets that their requests use. */
export const EFFECTS = [
  // An event that a run waits for. `field` and `value` are an equality of its filter, or empty: they find a wait among many.
  `CREATE TABLE waits (
    run INTEGER PRIMARY KEY,
    step INTEGER NOT NULL,
    pattern TEXT NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    filter TEXT NOT NULL,
    seq INTEGER)`,
  `CREATE INDEX waits_for ON waits (pattern, field, value) WHERE seq IS NULL`,
  // A question that a run asks a person or a role.
  `CREATE TABLE asks (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    workflow TEXT NOT NULL,
    of TEXT NOT NULL,
    title TEXT NOT NULL,
    fields TEXT,
    state TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    due INTEGER,
    answer TEXT,
    answered_by TEXT,
    answered_at INTEGER)`,
  `CREATE INDEX asks_open ON asks (of, n) WHERE state = 'Open'`,
  `CREATE INDEX asks_run ON asks (run, step)`,
  // Encrypted with the key of the host.
  `CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL) WITHOUT ROWID`,
] as const
