import { AUTHORS } from './automation/author-tables.ts'
import { EFFECTS } from './automation/effect-tables.ts'
import { INTEGRATIONS } from './automation/integrations.ts'
import { ENTITY_TABLES } from './entity-tables.ts'
import { FILES } from './files/file-tables.ts'
import { LOG_TABLES, VERSION_TABLE } from './log/log-tables.ts'
import { MAILS } from './mail/mail-tables.ts'
import { MEASURES } from './measures.ts'
import { NAMES } from './names.ts'
import { EVENT_SUBSCRIPTIONS } from './outgoing/event-subscriptions.ts'
import { PEOPLE } from './people/people-tables.ts'

/** The layout of a tenant's database. A change here is a new layout version with a migration from the one before. */
export const LAYOUT_VERSION = 15

/** The end of an interval that has not ended: above every seq. */
export const OPEN = 9_007_199_254_740_991

/** Null in `field_index.value`, whose key columns cannot be null: before every other value, and no JSON number. */
export const NULL_KEY = Number.NEGATIVE_INFINITY

export const LAYOUT = [
  // Small facts about the tenant itself: layout version, the seq up to which the text index is folded, …
  `CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID`,

  ...NAMES,
  ...LOG_TABLES,
  VERSION_TABLE,
  ...ENTITY_TABLES,

  // The index over fields: entity n had this value in this field from seq since until (before) seq until.
  // Indexed and unique fields write a row for null too (as NOTHING); relations and lists one row per id or element.
  // Datetimes are their ISO text, booleans 0 and 1. A value that does not change keeps its row over many versions.
  `CREATE TABLE field_index (
    field INTEGER NOT NULL,
    value,
    until INTEGER NOT NULL,
    n INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (field, value, until, n)) WITHOUT ROWID`,
  // The number of each indexed field.
  `CREATE TABLE fields (field INTEGER PRIMARY KEY, type TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (type, name))`,

  // Words of every string field; rowid is the entity's n, or minus the seq of a tracked Event. Folded from the log, lazily.
  // Prefixes have no index of their own: it made folding two and a half times as dear, and saved a search a fifth at best.
  `CREATE VIRTUAL TABLE text USING fts5(words, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2')`,

  // Hashes of key secrets. No query of a client can name this table.
  `CREATE TABLE keys (
    id TEXT PRIMARY KEY,
    prefix TEXT NOT NULL UNIQUE,
    hash BLOB NOT NULL,
    expires_at INTEGER,
    used_at INTEGER) WITHOUT ROWID`,
  `CREATE INDEX keys_expiry ON keys (expires_at) WHERE expires_at IS NOT NULL`,

  ...PEOPLE,

  // Answers to requests with an Idempotency-Key, kept for a day.
  `CREATE TABLE answers (
    scope TEXT PRIMARY KEY,
    fingerprint TEXT NOT NULL,
    status INTEGER NOT NULL,
    headers TEXT NOT NULL,
    body TEXT,
    at INTEGER NOT NULL,
    rights TEXT NOT NULL DEFAULT '{}') WITHOUT ROWID`,
  `CREATE INDEX answers_at ON answers (at)`,

  // AFTER hooks that still have to run for an event: written with it, removed once the hook has returned.
  `CREATE TABLE after_hook_queue (
    id INTEGER PRIMARY KEY,
    seq INTEGER NOT NULL,
    hook TEXT NOT NULL,
    hops INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    due INTEGER,
    error TEXT)`,
  `CREATE INDEX afters_due ON after_hook_queue (due)`,

  // What is kept of a webhook in addition to its entity: the secrets that sign, whose eyes it sees with, and the seq up to
  // which past events were sent (null once new events are queued for it directly). No query can name this table.
  `CREATE TABLE receivers (
    id TEXT PRIMARY KEY,
    secret TEXT NOT NULL,
    old_secret TEXT,
    old_until INTEGER,
    sees TEXT NOT NULL,
    position INTEGER) WITHOUT ROWID`,

  // One row per event and subscribed webhook, written with the event. `due` is null when nothing is left to do.
  // A test has its own body; every other body is made of the event.
  `CREATE TABLE outbox (
    id INTEGER PRIMARY KEY,
    webhook TEXT NOT NULL,
    seq INTEGER NOT NULL,
    state TEXT NOT NULL,
    failures INTEGER NOT NULL,
    due INTEGER,
    at INTEGER NOT NULL,
    attempts TEXT NOT NULL,
    body TEXT,
    trace TEXT,
    url TEXT)`,
  `CREATE INDEX outbox_due ON outbox (webhook, state, due) WHERE due IS NOT NULL`,
  `CREATE INDEX outbox_webhook ON outbox (webhook)`,
  `CREATE INDEX outbox_failed ON outbox (webhook) WHERE state = 'failed'`,
  `CREATE INDEX outbox_done ON outbox (at) WHERE due IS NULL`,

  ...EVENT_SUBSCRIPTIONS,

  // The change that decided the value of a field, when it came by a sync: valid while seq is the event that last
  // changed the field. Any other field was decided by the event itself, at its time.
  `CREATE TABLE clocks (
    entity TEXT NOT NULL,
    field TEXT NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    replica TEXT NOT NULL,
    clock TEXT,
    PRIMARY KEY (entity, field)) WITHOUT ROWID`,
  // Digests of the changes that syncs have brought, so that a repeated one is known.
  `CREATE TABLE synced (digest BLOB PRIMARY KEY, applied INTEGER NOT NULL) WITHOUT ROWID`,

  // The hash tree over the log: complete subtrees, from those of 16 events up. Made from the log, lazily.
  `CREATE TABLE tree (
    level INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, n)) WITHOUT ROWID`,

  // Verbs that run at the time of a field: one row per entity and timer, written with the event that set the time and
  // removed with the event of the verb. `due` is null once the verb was refused. `seq` is the event that scheduled it.
  `CREATE TABLE timers (
    n INTEGER NOT NULL,
    name TEXT NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    due INTEGER,
    hops INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    error TEXT,
    PRIMARY KEY (n, name)) WITHOUT ROWID`,
  `CREATE INDEX timers_due ON timers (due, n, name) WHERE due IS NOT NULL`,
  // Timers that were declared when there were entities already: how far these have been gone through.
  `CREATE TABLE timer_scans (
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    after INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    later INTEGER NOT NULL,
    PRIMARY KEY (type, name)) WITHOUT ROWID`,

  // What is kept of a workflow in addition to its entity: the event that created it, when its schedule is next due, and how
  // often it has failed in a row. `rights` is of earlier versions: see `authors`. No query can name this table.
  `CREATE TABLE workflows (
    id TEXT PRIMARY KEY,
    rights TEXT NOT NULL,
    seq INTEGER NOT NULL,
    next_at INTEGER,
    failures INTEGER NOT NULL) WITHOUT ROWID`,
  // One row per run, written with the event that it runs for. `due` is null once it has ended, and while its workflow
  // is paused. A run by schedule has no event: `at` is the time that it was scheduled for.
  `CREATE TABLE workflow_runs (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    workflow TEXT NOT NULL,
    trigger TEXT NOT NULL,
    seq INTEGER,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    due INTEGER,
    hops INTEGER NOT NULL,
    retry_of TEXT,
    retried_by TEXT,
    definition TEXT,
    started_at INTEGER,
    ended_at INTEGER,
    error TEXT)`,
  `CREATE INDEX workflow_runs_due ON workflow_runs (due) WHERE due IS NOT NULL`,
  `CREATE INDEX workflow_runs_workflow ON workflow_runs (workflow, state)`,
  `CREATE INDEX workflow_runs_ended ON workflow_runs (ended_at) WHERE ended_at IS NOT NULL`,
  // The steps of a run that have begun. A verb and its row here share a transaction.
  `CREATE TABLE workflow_steps (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL,
    input TEXT,
    output TEXT,
    error TEXT,
    started_at INTEGER NOT NULL,
    ended_at INTEGER,
    PRIMARY KEY (run, step)) WITHOUT ROWID`,
  // What the code of a step has written, call by call, with the answers: code that runs again does not write again.
  `CREATE TABLE workflow_calls (
    run INTEGER NOT NULL,
    step INTEGER NOT NULL,
    call INTEGER NOT NULL,
    request TEXT NOT NULL,
    answer TEXT NOT NULL,
    PRIMARY KEY (run, step, call)) WITHOUT ROWID`,

  ...MEASURES,
  ...AUTHORS,
  ...INTEGRATIONS,
  ...EFFECTS,
  ...FILES,
  ...MAILS,
] as const
