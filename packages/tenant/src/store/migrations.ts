import { LAYOUT } from './layout.ts'

/** What brings a database from each layout to the next. */
export const MIGRATIONS: { readonly [from: number]: readonly string[] } = {
  // The past is no longer written with every event, but folded from what each event replaced; what there is, is folded.
  1: [
    'ALTER TABLE log ADD COLUMN replaced INTEGER',
    'DROP TRIGGER log_gapless',
    'DROP TRIGGER log_unchanged',
    ...LAYOUT.filter((statement) => statement.includes('TRIGGER log_unchanged')),
    'ALTER TABLE past RENAME TO past_1',
    ...LAYOUT.filter((statement) => statement.includes('TABLE past ')),
    'INSERT INTO past (n, until, seq) SELECT n, until, seq FROM past_1 ORDER BY n, until',
    'DROP TABLE past_1',
    `INSERT INTO meta (key, value) SELECT 'past.seq', coalesce(max(seq), 0) FROM log`,
  ],
}
