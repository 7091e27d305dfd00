import type { Sql } from '../../ports.ts'
import { clearTimers, forgetTimers } from '../automation/timers.ts'
import { forgetOpenRuns } from '../automation/workflow-runs.ts'
import { resetEntities } from '../entities.ts'
import { OPEN } from '../layout.ts'
import { CUT, earliestCut, setMeta, TEXT_SEQ } from '../meta.ts'
import { forgetTasks } from '../tasks.ts'
import { lastSeq, readHead } from './log.ts'
import { LOG_KEPT } from './log-tables.ts'
import { writeOrigin } from './origin.ts'
import { cutTree } from './tree.ts'
import { cutVersions, indexVersions } from './versions.ts'

/** Takes a copy of a tenant back to a seq, as if nothing had happened since. For forks only: it cuts the log. */
export function rewind(sql: Sql, seq: number): void {
  sql.transaction(() => {
    indexVersions(sql)
    sql.run('DROP TRIGGER log_kept')
    resetEntities(sql, seq)
    cutVersions(sql, seq)
    sql.run('DELETE FROM field_index WHERE since > ?', seq)
    sql.run('UPDATE field_index SET until = ? WHERE until > ? AND until < ?', OPEN, seq, OPEN)
    sql.run('DELETE FROM outbox WHERE seq > ?', seq)
    sql.run('DELETE FROM log WHERE seq > ?', seq)
    cutTree(sql, seq)
    setMeta(sql, CUT, earliestCut(sql, seq))
    sql.run('DELETE FROM clocks WHERE seq > ?', seq)
    sql.run('DELETE FROM synced')
    sql.run('DELETE FROM workflows WHERE seq > ?', seq)
    sql.run('DELETE FROM authors WHERE seq > ?', seq)
    sql.run('DELETE FROM content_uses WHERE seq > ?', seq)
    sql.run(
      `UPDATE contents SET is_used = 0
      WHERE NOT EXISTS (SELECT 1 FROM content_uses WHERE content_uses.hash = contents.hash)`,
    )
    forgetOpenRuns(sql, readHead(sql).at)
    clearTimers(sql)
    sql.run(LOG_KEPT)
  })
}

/** What only the tenant itself may have: secrets, and work that is still to be done. */
const OWN =
  'keys credentials tokens clients consents answers after_hook_queue receivers outbox secrets mails mail_counts notices integrations uploads upload_parts content_senders blobs_to_remove'.split(
    ' ',
  )

/**
 * Makes a copy of a tenant a fork of it: leaves behind its secrets, what it still has to send and what it answered, and
 * records where the fork begins.
 */
export function detach(sql: Sql, tenant: string, now: number): void {
  sql.transaction(() => {
    writeOrigin(sql, { tenant, seq: lastSeq(sql) })
    for (const table of OWN) sql.run(`DELETE FROM ${table}`)
    forgetOpenRuns(sql, now)
    forgetTimers(sql, now)
    sql.run(`DELETE FROM meta WHERE key LIKE 'sync.%'`)
    forgetTasks(sql)
    sql.run(`INSERT INTO text (text) VALUES ('delete-all')`)
    setMeta(sql, TEXT_SEQ, '0')
  })
}
