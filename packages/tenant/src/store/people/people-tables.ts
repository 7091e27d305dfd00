/** How people and their agents are recognised. Only hashes are kept, and no query of a client can name these tables. */
export const PEOPLE = [
  // What a person signs in with: `data` holds the argon2id hash of a password, or the public key of a passkey.
  `CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER) WITHOUT ROWID`,
  `CREATE INDEX credentials_user ON credentials (user)`,
  // Secrets that were handed out: sessions, invitations, challenges, codes, access and refresh tokens.
  `CREATE TABLE tokens (
    hash BLOB PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    user TEXT,
    consent TEXT,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER,
    expires_at INTEGER NOT NULL) WITHOUT ROWID`,
  `CREATE INDEX tokens_user ON tokens (user, kind)`,
  `CREATE INDEX tokens_consent ON tokens (consent) WHERE consent IS NOT NULL`,
  `CREATE INDEX tokens_expiry ON tokens (expires_at)`,
  // OAuth clients that registered, or whose metadata document was read. Each is its own actor.
  `CREATE TABLE clients (
    id TEXT PRIMARY KEY,
    agent TEXT NOT NULL UNIQUE,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER) WITHOUT ROWID`,
  // What a person allowed a client; `writes` counts those of `day`.
  `CREATE TABLE consents (
    id TEXT PRIMARY KEY,
    client TEXT NOT NULL,
    user TEXT NOT NULL,
    data TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    used_at INTEGER,
    day TEXT,
    writes INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID`,
  `CREATE INDEX consents_user ON consents (user)`,
  `CREATE INDEX consents_client ON consents (client)`,
] as const
