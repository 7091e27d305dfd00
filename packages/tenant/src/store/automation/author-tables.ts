/** Who stored what acts or reads later. No query can name this table. */
export const AUTHORS = [
  `CREATE TABLE authors (
    kind TEXT NOT NULL,
    thing TEXT NOT NULL,
    digest TEXT NOT NULL,
    seq INTEGER NOT NULL,
    holder TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (kind, thing, digest, seq)) WITHOUT ROWID`,
  `CREATE INDEX authors_holder ON authors (holder, kind, thing)`,
] as const
