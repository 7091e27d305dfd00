import type { Sql } from '../../ports.ts'

/**
 * The lowest level of the tree that is stored: a node there covers 16 events. What is below is hashed again when it is
 * asked for, so that the tree takes 6 bytes per event and not 90.
 */
export const STORED_LEVEL = 4

/** The leaves that one node of the lowest stored level covers. */
export const BLOCK = 2 ** STORED_LEVEL

/** How many blocks of the log are in the stored tree. */
export function storedBlocks(sql: Sql): number {
  return (sql.rows('SELECT max(n) FROM tree WHERE level = ?', STORED_LEVEL)[0]![0] ?? -1) + 1
}

/** The hash of a complete subtree that is stored, or undefined. */
export function readNode(sql: Sql, level: number, n: number): Uint8Array | undefined {
  return sql.rows('SELECT hash FROM tree WHERE level = ? AND n = ?', level, n)[0]?.[0]
}

export function addNode(sql: Sql, level: number, n: number, hash: Uint8Array): void {
  sql.run('INSERT INTO tree (level, n, hash) VALUES (?, ?, ?)', level, n, hash)
}

/** The hashes of events in the chain after a seq, in order: what the leaves are made of. */
export function chainHashes(sql: Sql, after: number, limit: number): Uint8Array[] {
  return sql
    .rows('SELECT hash FROM log WHERE seq > ? AND seq <= ? ORDER BY seq', after, after + limit)
    .map(([hash]) => hash)
}

/** How many nodes are stored. */
export function countNodes(sql: Sql): number {
  return sql.rows('SELECT count(*) FROM tree')[0]![0]
}

/** Takes out the nodes that cover events after a seq. */
export function cutTree(sql: Sql, seq: number): void {
  sql.run('DELETE FROM tree WHERE (n + 1) << level > ?', seq)
}
