import { ENTITY_TABLES } from '../entity-tables.ts'
import { LOG_TABLES } from '../log/log-tables.ts'
import { MEASURES } from '../measures.ts'
import { NAMES } from '../names.ts'

const MEASURED = ['Deal', 'Subscription', 'Ticket', 'Lead', 'Event']

/**
 * From layout 10 to 11: states are stored once, in the log, and names are numbers. The old tables get other names; their rows
 * move to the new ones in slices (`move-rows.ts`), and then they are dropped.
 */
export const FROM_10: readonly string[] = [
  'DROP TRIGGER log_kept',
  'DROP TRIGGER log_unchanged',
  ...MEASURED.map((type) => `DROP INDEX IF EXISTS measures_${type}`),
  'DROP INDEX log_type',
  'DROP INDEX log_correlation',
  'DROP INDEX entities_type',
  'ALTER TABLE log RENAME TO log_10',
  'ALTER TABLE entities RENAME TO entities_10',
  ...NAMES,
  ...LOG_TABLES,
  ...ENTITY_TABLES,
  ...MEASURES,
]
