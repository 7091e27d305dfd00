/** The content of files: what there is of it, who sent it, and which entities name it. The bytes are elsewhere. */
export const FILES = [
  // One row per content. `key` is where the bytes are; null when they are still to come, after a restore of a log.
  // `at` is when it was last sent: content that nothing names (`is_used` is 0) is removed some time after that.
  `CREATE TABLE contents (
    hash TEXT PRIMARY KEY,
    key TEXT,
    size INTEGER NOT NULL,
    width INTEGER,
    height INTEGER,
    at INTEGER NOT NULL,
    is_used INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX contents_unused ON contents (at) WHERE is_used = 0`,
  `CREATE INDEX contents_missing ON contents (hash) WHERE key IS NULL`,
  // Who sent a content, as which type and with which name.
  `CREATE TABLE content_senders (
    hash TEXT NOT NULL,
    sender TEXT NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (hash, sender, type)) WITHOUT ROWID`,
  // Which entities name a content, now or in the past, and since which event. `is_field` is 1 when a file field does: then
  // the content can be read there. Elsewhere, as in the arguments of an event, it is only kept.
  `CREATE TABLE content_uses (
    hash TEXT NOT NULL,
    entity TEXT NOT NULL,
    type TEXT NOT NULL,
    seq INTEGER NOT NULL,
    is_field INTEGER NOT NULL,
    PRIMARY KEY (hash, entity)) WITHOUT ROWID`,
  `CREATE INDEX content_uses_entity ON content_uses (entity)`,
  // Uploads in several requests, and the parts of each that have arrived. `hash` is set when it is finished.
  `CREATE TABLE uploads (
    id TEXT PRIMARY KEY,
    sender TEXT NOT NULL,
    size INTEGER NOT NULL,
    type TEXT NOT NULL,
    name TEXT NOT NULL,
    metadata TEXT NOT NULL,
    expires_at INTEGER NOT NULL,
    hash TEXT) WITHOUT ROWID`,
  `CREATE INDEX uploads_end ON uploads (expires_at)`,
  `CREATE TABLE upload_parts (
    upload TEXT NOT NULL,
    start INTEGER NOT NULL,
    size INTEGER NOT NULL,
    key TEXT NOT NULL,
    PRIMARY KEY (upload, start)) WITHOUT ROWID`,
  // Bytes that nothing names any more, written with the commit that forgot them and removed after it.
  `CREATE TABLE blobs_to_remove (key TEXT PRIMARY KEY) WITHOUT ROWID`,
] as const
