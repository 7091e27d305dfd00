import type { Sql } from '../../ports.ts'
import { addKeyToRemove } from './contents.ts'

/** An upload in several requests. */
export interface Upload {
  readonly id: string
  readonly sender: string
  readonly size: number
  readonly type: string
  readonly name: string
  /** `Upload-Metadata` as it was sent. */
  readonly metadata: string
  readonly expiresAt: number
  /** The hash of its content, once it is finished. */
  readonly hash: string | null
}

/** The bytes that one request brought. */
export interface UploadPart {
  readonly start: number
  readonly size: number
  readonly key: string
}

export function saveUpload(sql: Sql, upload: Upload): void {
  const { id, sender, size, type, name, metadata, expiresAt, hash } = upload
  sql.run(
    `INSERT INTO uploads (id, sender, size, type, name, metadata, expires_at, hash)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[id, sender, size, type, name, metadata, expiresAt, hash],
  )
}

export function uploadOf(sql: Sql, id: string): Upload | null {
  const [row] = sql.rows(
    'SELECT id, sender, size, type, name, metadata, expires_at, hash FROM uploads WHERE id = ?',
    id,
  )
  if (!row) return null
  const [, sender, size, type, name, metadata, expiresAt, hash] = row
  return { id, sender, size, type, name, metadata, expiresAt, hash }
}

/** How many uploads of a sender are not finished. */
export function openUploads(sql: Sql, sender: string): number {
  return sql.rows('SELECT count(*) FROM uploads WHERE sender = ? AND hash IS NULL', sender)[0]![0]
}

export function partsOfUpload(sql: Sql, id: string): UploadPart[] {
  return sql
    .rows('SELECT start, size, key FROM upload_parts WHERE upload = ? ORDER BY start', id)
    .map(([start, size, key]) => ({ start, size, key }))
}

/** How many bytes of an upload have arrived. */
export function offsetOfUpload(sql: Sql, id: string): number {
  const [row] = sql.rows('SELECT start + size FROM upload_parts WHERE upload = ? ORDER BY start DESC LIMIT 1', id)
  return row ? row[0] : 0
}

export function savePart(sql: Sql, upload: string, { start, size, key }: UploadPart): void {
  sql.run('INSERT INTO upload_parts (upload, start, size, key) VALUES (?, ?, ?, ?)', upload, start, size, key)
}

/** Marks an upload as finished. Its parts are forgotten: `kept` has become the content. */
export function finishUpload(sql: Sql, id: string, hash: string, kept: string | null): void {
  sql.run('UPDATE uploads SET hash = ? WHERE id = ?', hash, id)
  dropParts(sql, id, kept)
}

/** Forgets an upload with its parts. */
export function dropUpload(sql: Sql, id: string): void {
  dropParts(sql, id, null)
  sql.run('DELETE FROM uploads WHERE id = ?', id)
}

/** Uploads whose time is over. */
export function endedUploads(sql: Sql, now: number, most: number): string[] {
  return sql.rows('SELECT id FROM uploads WHERE expires_at <= ? LIMIT ?', now, most).map(([id]) => id)
}

export function nextUploadEnd(sql: Sql): number | null {
  return sql.rows('SELECT min(expires_at) FROM uploads')[0]![0]
}

function dropParts(sql: Sql, id: string, kept: string | null): void {
  for (const { key } of partsOfUpload(sql, id)) if (key !== kept) addKeyToRemove(sql, key)
  sql.run('DELETE FROM upload_parts WHERE upload = ?', id)
}
