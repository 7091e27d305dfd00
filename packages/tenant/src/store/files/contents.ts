import type { Sql } from '../../ports.ts'

/** The content of files, as a tenant knows it. */
export interface Content {
  /** `sha256:` and 64 hex digits. */
  readonly hash: string
  /** Where the bytes are; null when they are still to come. */
  readonly key: string | null
  readonly size: number
  /** The size of an image in pixels. */
  readonly width: number | null
  readonly height: number | null
}

/** A type and a name under which someone sent a content. */
export interface Sending {
  readonly type: string
  readonly name: string
}

/** An entity that names a content. */
export interface ContentUse {
  readonly entity: string
  readonly type: string
}

const COLUMNS = 'hash, key, size, width, height'

export function contentOf(sql: Sql, hash: string): Content | null {
  const [row] = sql.rows(`SELECT ${COLUMNS} FROM contents WHERE hash = ?`, hash)
  return row ? contentIn(row) : null
}

/** Adds a content, or notes that it was sent again. Bytes that were missing are there now. */
export function saveContent(sql: Sql, { hash, key, size, width, height }: Content, at: number): void {
  sql.run(
    `INSERT INTO contents (hash, key, size, width, height, at, is_used)
    VALUES (?, ?, ?, ?, ?, ?, 0)
    ON CONFLICT (hash) DO UPDATE SET
      width = coalesce(width, excluded.width),
      height = coalesce(height, excluded.height),
      key = coalesce(key, excluded.key),
      at = max(at, excluded.at)`,
    hash,
    key,
    size,
    width,
    height,
    at,
  )
}

export function saveSender(sql: Sql, hash: string, sender: string, { type, name }: Sending, at: number): void {
  sql.run(
    `INSERT INTO content_senders (hash, sender, type, name, at)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (hash, sender, type) DO UPDATE SET name = excluded.name, at = excluded.at`,
    hash,
    sender,
    type,
    name,
    at,
  )
}

/** As what someone sent a content, or anyone did, the latest first. */
export function sendingsOf(sql: Sql, hash: string, sender: string | null): Sending[] {
  return sql
    .rows(
      'SELECT type, name FROM content_senders WHERE hash = ? AND sender = coalesce(?, sender) ORDER BY at DESC',
      hash,
      sender,
    )
    .map(([type, name]) => ({ type, name }))
}

/** Notes that an entity names a content since an event. */
export function saveUse(sql: Sql, hash: string, { entity, type }: ContentUse, seq: number, isField: boolean): void {
  sql.run(
    `INSERT INTO content_uses (hash, entity, type, seq, is_field)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (hash, entity) DO UPDATE SET is_field = max(is_field, excluded.is_field)`,
    hash,
    entity,
    type,
    seq,
    isField ? 1 : 0,
  )
  sql.run('UPDATE contents SET is_used = 1 WHERE hash = ? AND is_used = 0', hash)
}

/** Whether a file field of an entity names a content, or did so once. */
export function isFieldOf(sql: Sql, hash: string, entity: string): boolean {
  return sql.rows('SELECT 1 FROM content_uses WHERE hash = ? AND entity = ? AND is_field = 1', hash, entity).length > 0
}

/** Whether a file field of any entity names a content, or did so once. */
export function isField(sql: Sql, hash: string): boolean {
  return sql.rows('SELECT 1 FROM content_uses WHERE hash = ? AND is_field = 1 LIMIT 1', hash).length > 0
}

/** The entities whose file fields name a content, or did so once. */
export function usesOf(sql: Sql, hash: string, most: number): ContentUse[] {
  return sql
    .rows('SELECT entity, type FROM content_uses WHERE hash = ? AND is_field = 1 LIMIT ?', hash, most)
    .map(([entity, type]) => ({ entity, type }))
}

/** Forgets what an entity named, and the content that nothing else names. */
export function forgetUses(sql: Sql, entity: string): void {
  const hashes = sql.rows('SELECT hash FROM content_uses WHERE entity = ?', entity).map(([hash]) => String(hash))
  if (hashes.length === 0) return
  sql.run('DELETE FROM content_uses WHERE entity = ?', entity)
  for (const hash of hashes) if (!isUsed(sql, hash)) forgetContent(sql, hash)
}

/** Forgets a content. Its bytes are removed once that is committed. */
export function forgetContent(sql: Sql, hash: string): void {
  sql.run(
    `INSERT INTO blobs_to_remove (key)
    SELECT key FROM contents WHERE hash = ? AND key IS NOT NULL
    ON CONFLICT DO NOTHING`,
    hash,
  )
  sql.run('DELETE FROM contents WHERE hash = ?', hash)
  sql.run('DELETE FROM content_senders WHERE hash = ?', hash)
}

/** Contents that nothing names and that were last sent before a time, or at it. */
export function unusedContents(sql: Sql, before: number, most: number): string[] {
  return sql
    .rows('SELECT hash FROM contents WHERE is_used = 0 AND at <= ? ORDER BY at LIMIT ?', before, most)
    .map(([hash]) => hash)
}

/** When the oldest content was sent that nothing names, or null. */
export function oldestUnused(sql: Sql): number | null {
  const [row] = sql.rows('SELECT at FROM contents WHERE is_used = 0 ORDER BY at LIMIT 1')
  return row ? row[0] : null
}

/** Contents in the order of their hashes, page by page. */
export function contentsAfter(sql: Sql, after: string, most: number): Content[] {
  return sql.rows(`SELECT ${COLUMNS} FROM contents WHERE hash > ? ORDER BY hash LIMIT ?`, after, most).map(contentIn)
}

/** Contents whose bytes are still to come. */
export function missingContents(sql: Sql, most: number): string[] {
  return sql
    .rows('SELECT hash FROM contents WHERE key IS NULL ORDER BY hash LIMIT ?', most)
    .map(([hash]) => String(hash))
}

/** Notes that the bytes of a content are still to come. */
export function forgetKey(sql: Sql, hash: string): void {
  sql.run('UPDATE contents SET key = NULL WHERE hash = ?', hash)
}

/** How many bytes the contents and the unfinished uploads have together, and how many the largest has. */
export function keptBytes(sql: Sql): { readonly total: number; readonly largest: number } {
  const [[total, largest]] = sql.rows(
    'SELECT (SELECT total(size) FROM contents) + (SELECT total(size) FROM upload_parts), (SELECT max(size) FROM contents)',
  ) as [[number, number | null]]
  return { total, largest: largest ?? 0 }
}

/** Whether anything names a key: its bytes are needed. */
export function isKeyUsed(sql: Sql, key: string, hash?: string): boolean {
  if (hash !== undefined) return contentOf(sql, hash)?.key === key
  return (
    sql.rows(
      'SELECT 1 FROM contents WHERE key = ? UNION ALL SELECT 1 FROM upload_parts WHERE key = ? LIMIT 1',
      key,
      key,
    ).length > 0
  )
}

/** Every key that is needed. */
export function usedKeys(sql: Sql): Set<string> {
  const rows = sql.rows('SELECT key FROM contents WHERE key IS NOT NULL UNION ALL SELECT key FROM upload_parts')
  return new Set(rows.map(([key]) => String(key)))
}

/** Whether there is any content, or an upload. */
export function hasFiles(sql: Sql): boolean {
  return sql.rows('SELECT 1 FROM contents UNION ALL SELECT 1 FROM uploads LIMIT 1').length > 0
}

export function keysToRemove(sql: Sql, most: number): string[] {
  return sql.rows('SELECT key FROM blobs_to_remove LIMIT ?', most).map(([key]) => key)
}

export function addKeyToRemove(sql: Sql, key: string): void {
  sql.run('INSERT INTO blobs_to_remove (key) VALUES (?) ON CONFLICT DO NOTHING', key)
}

export function dropKeyToRemove(sql: Sql, key: string): void {
  sql.run('DELETE FROM blobs_to_remove WHERE key = ?', key)
}

function isUsed(sql: Sql, hash: string): boolean {
  return sql.rows('SELECT 1 FROM content_uses WHERE hash = ? LIMIT 1', hash).length > 0
}

function contentIn([hash, key, size, width, height]: unknown[]): Content {
  return { hash, key, size, width, height } as Content
}
