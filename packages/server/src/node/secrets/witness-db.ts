import { systemSeal } from '../../host/ports.ts'
import type { Seen, WitnessMemory } from '../../host/proof/witness.ts'
import { openSql } from '../sqlite/sql.ts'

/** What this service remembers as a witness, in its own database. */
export class WitnessDb implements WitnessMemory {
  readonly #sql: ReturnType<typeof openSql>

  constructor(path: string) {
    this.#sql = openSql(path)
    this.#sql.run(
      'CREATE TABLE IF NOT EXISTS seen (origin TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT) WITHOUT ROWID',
    )
  }

  read(origin: string): Seen | null {
    const row = this.#sql.rows('SELECT size, root FROM seen WHERE origin = ?', origin)[0]
    return row ? { size: row[0], root: row[1] } : null
  }

  write(origin: string, { size, root }: Seen): void {
    this.#sql.run(
      'INSERT INTO seen (origin, hash, size, root) VALUES (?, ?, ?, ?) ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root',
      origin,
      Buffer.from(systemSeal.sha256(origin)).toString('hex'),
      size,
      root,
    )
  }

  keep(origin: string, note: string): void {
    this.#sql.run('UPDATE seen SET note = ? WHERE origin = ?', note, origin)
  }

  noteOf(originHash: string): string | null {
    return this.#sql.rows('SELECT note FROM seen WHERE hash = ?', originHash)[0]?.[0] ?? null
  }

  close(): void {
    this.#sql.close()
  }
}
