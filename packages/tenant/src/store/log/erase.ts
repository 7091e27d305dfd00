import type { Sql } from '../../ports.ts'
import { eraseFromRuns } from '../automation/workflow-steps.ts'
import { forgetUses } from '../files/contents.ts'

/** Takes the values of an entity out of everything that holds them. The log keeps its headers, digests and chain. */
export function eraseValues(sql: Sql, type: string, id: string, n: number | null): number {
  const seqs = JSON.stringify(
    sql.rows('SELECT seq FROM log WHERE type IS ? AND entity = ?', type, id).map(([seq]) => seq),
  )
  sql.run(
    'UPDATE log SET data = NULL, previous = NULL, args = NULL, salt = NULL WHERE seq IN (SELECT value FROM json_each(?))',
    seqs,
  )
  sql.run('DELETE FROM text WHERE rowid IN (SELECT -value FROM json_each(?))', seqs)
  if (n !== null) {
    sql.run(`UPDATE entities SET data = '{}' WHERE n = ?`, n)
    sql.run('DELETE FROM field_index WHERE n = ? AND field IN (SELECT field FROM fields WHERE type = ?)', n, type)
    sql.run('DELETE FROM text WHERE rowid = ?', n)
  }
  sql.run('DELETE FROM clocks WHERE entity = ?', id)
  sql.run('UPDATE outbox SET body = NULL WHERE seq IN (SELECT value FROM json_each(?)) AND body IS NOT NULL', seqs)
  // An answer kept for an Idempotency-Key may show the entity, whatever it was an answer to.
  sql.run('DELETE FROM answers WHERE instr(body, ?) > 0', id)
  eraseFromRuns(sql, id)
  forgetUses(sql, id)
  // Words of deleted rows stay in the index until its parts are merged.
  sql.run(`INSERT INTO text (text) VALUES ('optimize')`)
  return JSON.parse(seqs).length
}
