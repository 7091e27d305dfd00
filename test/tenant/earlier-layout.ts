import type { Sql } from '@tildebase/tenant/ports'

/** Gives the log and the entities of a file the tables that they had up to layout 10. */
export function toLayout10(sql: Sql): void {
  const statements = [
    `CREATE TABLE log_then (seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, at INTEGER NOT NULL, recorded_at INTEGER, type TEXT NOT NULL,
      entity TEXT NOT NULL, verb TEXT NOT NULL, event TEXT NOT NULL, version INTEGER NOT NULL, replaced INTEGER,
      actor TEXT NOT NULL, correlation TEXT, on_behalf_of TEXT, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
      data TEXT, previous TEXT, args TEXT, salt BLOB, digest BLOB NOT NULL, hash BLOB NOT NULL)`,
    `INSERT INTO log_then SELECT seq, id, at, recorded_at, type, entity, verb, event, version, replaced, actor, correlation, on_behalf_of,
      created_at, created_by, data, previous, args, salt, coalesce(digest, x''), hash FROM events`,
    `CREATE TABLE entities_then (n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, type TEXT NOT NULL, gone INTEGER NOT NULL,
      seq INTEGER NOT NULL, version INTEGER NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
      updated_at INTEGER NOT NULL, data TEXT NOT NULL)`,
    `INSERT INTO entities_then SELECT n, id, type, gone, seq, version, created_at, created_by, updated_at, data FROM states`,
    'DROP VIEW events',
    'DROP VIEW states',
    'DROP TRIGGER log_kept',
    'DROP TABLE log',
    'DROP TABLE entities',
    'DROP TABLE names',
    'DROP TABLE IF EXISTS integrations',
    'DROP TABLE IF EXISTS mails',
    'DROP TABLE IF EXISTS mail_counts',
    'DROP TABLE IF EXISTS notices',
    'ALTER TABLE log_then RENAME TO log',
    'ALTER TABLE entities_then RENAME TO entities',
    'CREATE INDEX log_type ON log (type, seq)',
    'CREATE INDEX log_correlation ON log (correlation) WHERE correlation IS NOT NULL',
    'CREATE INDEX entities_type ON entities (type, gone, n)',
    `CREATE TRIGGER log_kept BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,
    `CREATE TRIGGER log_unchanged BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,
    `UPDATE meta SET value = '10' WHERE key = 'layout'`,
  ]
  sql.transaction(() => {
    for (const statement of statements) sql.run(statement)
  })
}
