import type { Seal, Sql } from '../../ports.ts'
import { eraseFromRuns } from '../automation/workflow-steps.ts'
import { forgetUses } from '../files/contents.ts'
import { nameNumber } from '../names.ts'
import { digestOf } from './log.ts'

/** Takes the values of an entity out of everything that holds them. The log keeps its headers, digests and chain. */
export function eraseValues(sql: Sql, seal: Seal, type: string, id: string, n: number | null): number {
  const own = n === null ? 'type IS ? AND n IS NULL AND coalesce(entity, id) = ?' : 'type IS ? AND n = ?'
  const rows = sql.rows(`SELECT seq, salt, data, previous, args FROM log WHERE ${own}`, nameNumber(sql, type), n ?? id)
  for (const [seq, salt, data, previous, args] of rows) {
    if (salt === null) continue
    const digest = digestOf(seal, salt, { data, previous, args })
    sql.run(
      'UPDATE log SET data = NULL, previous = NULL, args = NULL, salt = NULL, digest = ? WHERE seq = ?',
      digest,
      seq,
    )
  }
  const seqs = JSON.stringify(rows.map(([seq]) => seq))
  sql.run('DELETE FROM text WHERE rowid IN (SELECT -value FROM json_each(?))', seqs)
  if (n !== null) {
    sql.run('UPDATE entities SET measured = NULL WHERE n = ?', n)
    sql.run('DELETE FROM field_index WHERE n = ? AND field IN (SELECT field FROM fields WHERE type = ?)', n, type)
    sql.run('DELETE FROM text WHERE rowid = ?', n)
  }
  sql.run('DELETE FROM clocks WHERE entity = ?', id)
  sql.run('UPDATE outbox SET body = NULL WHERE seq IN (SELECT value FROM json_each(?)) AND body IS NOT NULL', seqs)
  // An answer kept for an Idempotency-Key may show the entity, whatever it was an answer to.
  sql.run('DELETE FROM answers WHERE instr(body, ?) > 0', id)
  eraseFromRuns(sql, id, seqs)
  forgetUses(sql, id)
  // Words of deleted rows stay in the index until its parts are merged.
  sql.run(`INSERT INTO text (text) VALUES ('optimize')`)
  return rows.length
}
