/** The limits of a Durable Object's SQLite, so that tests find out here what would fail there. */
export const DURABLE_OBJECT_LIMITS = {
  variableNumber: 100,
  column: 100,
  sqlLength: 100_000,
  exprDepth: 100,
  compoundSelect: 5,
  likePatternLength: 50,
}

/** What every connection begins with. */
export const PRAGMAS = [
  // Of new files: most tenants are small, and each table and index takes a page.
  'PRAGMA page_size = 2048',
  // A file has one owner: no lock is taken and given back for every read, and no second service writes into it.
  'PRAGMA locking_mode = EXCLUSIVE',
  'PRAGMA journal_mode = WAL',
  // After the mode: in WAL the default could be NORMAL, which loses commits with the power.
  'PRAGMA synchronous = FULL',
  'PRAGMA busy_timeout = 2000',
  // What a large sort or grouping does not keep in memory goes to a file, which has no name. It is opened when it is needed.
  'PRAGMA temp_store = FILE',
  // What is deleted is overwritten, so that an erasure leaves nothing in the file.
  'PRAGMA secure_delete = ON',
]
