/** The layout of a tenant's database. A change here is a new layout version with a migration from the one before. */
export const LAYOUT_VERSION = 1

/** The end of an interval that has not ended: above every seq. */
export const OPEN = 9_007_199_254_740_991

/** Null in `facts.value`, whose key columns cannot be null: before every other value, and no JSON number. */
export const NOTHING = Number.NEGATIVE_INFINITY

export const LAYOUT = [
  // Small facts about the tenant itself: layout version, the seq up to which the text index is folded, …
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,

  // The truth: one row per event, never changed. Everything below can be made again from it.
  // A tracked Event is such a row and nothing else. `data` is the state after (fields only, no meta-fields).
  `CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    at INTEGER NOT NULL,
    type TEXT NOT NULL,
    entity TEXT NOT NULL,
    verb TEXT NOT NULL,
    event TEXT NOT NULL,
    version INTEGER NOT NULL,
    actor TEXT NOT NULL,
    correlation TEXT,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    data TEXT,
    previous TEXT,
    salt BLOB,
    digest BLOB NOT NULL,
    hash BLOB NOT NULL)`,
  `CREATE INDEX log_type ON log (type, seq)`,
  `CREATE INDEX log_correlation ON log (correlation) WHERE correlation IS NOT NULL`,

  // The present: one row per entity, in creation order. A deleted one stays, gone = 1, so that it can be restored.
  `CREATE TABLE entities (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    gone INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    version INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    data TEXT NOT NULL)`,
  `CREATE INDEX entities_type ON entities (type, gone, n)`,

  // The past: a version that has been superseded was the state from its seq until (before) another.
  // Its content is the log row of the same seq. The current version has no row here.
  `CREATE TABLE past (
    seq INTEGER PRIMARY KEY,
    n INTEGER NOT NULL,
    type TEXT NOT NULL,
    until INTEGER NOT NULL)`,
  `CREATE INDEX past_entity ON past (n, until)`,
  `CREATE INDEX past_type ON past (type, until)`,

  // The index over fields: entity n had this value in this field from seq since until (before) seq until.
  // Indexed and unique fields write a row for null too (as NOTHING); relations and lists one row per id or element.
  // Datetimes are their ISO text, booleans 0 and 1. A value that does not change keeps its row over many versions.
  `CREATE TABLE facts (
    field INTEGER NOT NULL,
    value,
    until INTEGER NOT NULL,
    n INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (field, value, until, n)) WITHOUT ROWID`,
  // The number of each indexed field.
  `CREATE TABLE fields (field INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (type, name))`,

  // Words of every string field; rowid is the entity's n, or minus the seq of an Event. Folded from the log, lazily.
  `CREATE VIRTUAL TABLE text USING fts5(words, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2', prefix='2 3')`,
] as const
