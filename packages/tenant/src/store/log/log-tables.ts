import { nameIn } from '../names.ts'
import { eventIdOf, isWhole } from './event-ids.ts'

/** The log cannot be cut. */
export const LOG_KEPT = `CREATE TRIGGER log_kept BEFORE DELETE ON log
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`

/** The id of the entity that a row of the log is about, as SQL. A tracked Event is its own entity. */
export function entityOf(log: string): string {
  return `coalesce((SELECT entities.id FROM entities WHERE entities.n = ${log}.n), ${log}.entity, ${log}.id)`
}

/** When the entity of a row of the log was created, and the number of the actor that did it, as SQL. */
export function createdIn(log: string): { readonly at: string; readonly by: string } {
  const own = (column: string) => `(SELECT entities.${column} FROM entities WHERE entities.n = ${log}.n)`
  return {
    at: `coalesce(${log}.created_at, ${own('created_at')}, ${log}.at)`,
    by: `coalesce(${log}.created_by, ${own('created_by')}, ${log}.actor)`,
  }
}

/** The log with names instead of numbers, for people and for statements that are not in a hurry. */
export const EVENT_VIEW = `CREATE VIEW events AS
    SELECT seq, ${eventIdOf('log')} AS id, at, ${nameIn('log.type')} AS type, ${entityOf('log')} AS entity,
      ${nameIn('log.verb')} AS verb, ${nameIn('log.event')} AS event, version, replaced, ${nameIn('log.actor')} AS actor,
      correlation, ${nameIn('log.on_behalf_of')} AS on_behalf_of, ${createdIn('log').at} AS created_at,
      ${nameIn(createdIn('log').by)} AS created_by, recorded_at, data, previous, args, salt, digest, hash
    FROM log`

export const LOG_TABLES: readonly string[] = [
  // The truth: one row per event, never changed. Everything else can be made again from it. SQLite gives the next seq,
  // so that there are no gaps. `id` is the part of the id that time and seq do not tell: see `event-ids.ts`. Types, verbs, events and actors are numbers of `names`; the hash of an event covers the
  // names themselves. `n` is the number of the entity; null for a tracked Event, which is such a row and nothing else.
  // `data` is the state after (fields only, no meta-fields): the only place where it is stored. `replaced` is the seq of
  // the version that this one took the place of, unless that was a deletion: `versions` is made from it.
  // Columns that are null in almost every row come last and take one byte: `entity` (of an event without a row in
  // `entities`), `created_at` and `created_by` (when they are not those of the entity), `recorded_at` (when an event of
  // the past was imported), `digest` (of values that were erased; it is computed for all others).
  `CREATE TABLE log (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    at INTEGER NOT NULL,
    type INTEGER NOT NULL,
    n INTEGER,
    verb INTEGER NOT NULL,
    event INTEGER NOT NULL,
    version INTEGER NOT NULL,
    replaced INTEGER,
    actor INTEGER NOT NULL,
    salt BLOB,
    hash BLOB NOT NULL,
    data TEXT,
    previous TEXT,
    args TEXT,
    correlation TEXT,
    on_behalf_of INTEGER,
    entity TEXT,
    created_at INTEGER,
    created_by INTEGER,
    recorded_at INTEGER,
    digest BLOB)`,
  // Tracked Events and events from elsewhere by their id. All others are found by the seq in it. In files that began with
  // an earlier layout it has a row for every event.
  `CREATE UNIQUE INDEX log_id ON log (id) WHERE ${isWhole('')}`,
  // The events of a type in order (an index holds the seq of its rows): for streams of some types, and for the Event
  // collection without those that are hidden.
  'CREATE INDEX log_type ON log (type)',
  // What one request wrote, to undo it. Most events have none.
  'CREATE INDEX log_correlation ON log (correlation) WHERE correlation IS NOT NULL',
  LOG_KEPT,
  // The one change allowed is an erasure: the values go, their digest, the header and the chain stay.
  `CREATE TRIGGER log_unchanged BEFORE UPDATE ON log
    WHEN NEW.data IS NOT NULL OR NEW.previous IS NOT NULL OR NEW.args IS NOT NULL OR NEW.salt IS NOT NULL
      OR NEW.digest IS NULL OR NEW.digest <> coalesce(OLD.digest, NEW.digest)
      OR (NEW.seq, NEW.id, NEW.at, NEW.type, NEW.verb, NEW.event, NEW.version, NEW.actor, NEW.hash)
        <> (OLD.seq, OLD.id, OLD.at, OLD.type, OLD.verb, OLD.event, OLD.version, OLD.actor, OLD.hash)
      OR NEW.n IS NOT OLD.n OR NEW.replaced IS NOT OLD.replaced OR NEW.correlation IS NOT OLD.correlation
      OR NEW.on_behalf_of IS NOT OLD.on_behalf_of OR NEW.entity IS NOT OLD.entity
      OR NEW.created_at IS NOT OLD.created_at OR NEW.created_by IS NOT OLD.created_by
      OR NEW.recorded_at IS NOT OLD.recorded_at
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,

  EVENT_VIEW,
]

export const VERSION_TABLE =
  // The past: a version that has been superseded was the state from its seq until (before) another.
  // Its content is the log row of the same seq. The current version has no row here. Folded from the log, lazily.
  `CREATE TABLE versions (
    n INTEGER NOT NULL,
    until INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (n, until)) WITHOUT ROWID`
