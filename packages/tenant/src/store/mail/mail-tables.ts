/** E-mail that is to be sent. A row is written with what asks for it, and goes when it was sent or failed. */
export const MAILS = [
  // `id` is that of a Message, or of a letter of the service to a person. `content` is such a letter, encrypted: it may hold
  // a secret link.
  `CREATE TABLE mails (
    id TEXT PRIMARY KEY,
    content TEXT,
    failures INTEGER NOT NULL,
    due INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX mails_due ON mails (due)`,
  // How many messages workflows and hooks have sent to an address in an hour.
  `CREATE TABLE mail_counts (
    address TEXT NOT NULL,
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (address, hour)) WITHOUT ROWID`,
  // What a person is to know of. It has no text of its own: the entity has it. `due` is when it is sent by e-mail.
  `CREATE TABLE notices (
    n INTEGER PRIMARY KEY,
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    type TEXT NOT NULL,
    entity TEXT NOT NULL,
    by TEXT NOT NULL,
    at INTEGER NOT NULL,
    read_at INTEGER,
    due INTEGER,
    failures INTEGER NOT NULL DEFAULT 0)`,
  `CREATE INDEX notices_user ON notices (user, n)`,
  `CREATE INDEX notices_due ON notices (due) WHERE due IS NOT NULL`,
] as const
