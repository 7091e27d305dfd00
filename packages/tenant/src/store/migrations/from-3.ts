/** From layout 3 to 4: the hash tree over the log. It is made from the log, in slices, once the tenant is open. */
export const FROM_3: readonly string[] = [
  `CREATE TABLE tree (
    level INTEGER NOT NULL,
    n INTEGER NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (level, n)) WITHOUT ROWID`,
]
