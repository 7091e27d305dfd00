/**
 * From layout 1 to 2: versions are no longer written with every event, but made later from what each event replaced.
 * Those that exist are complete.
 */
export const FROM_1: readonly string[] = [
  'ALTER TABLE log ADD COLUMN replaced INTEGER',
  'DROP TRIGGER log_gapless',
  'DROP TRIGGER log_unchanged',
  `CREATE TRIGGER log_unchanged BEFORE UPDATE ON log
    WHEN NEW.data IS NOT NULL OR NEW.previous IS NOT NULL OR NEW.salt IS NOT NULL
      OR (NEW.seq, NEW.id, NEW.at, NEW.type, NEW.entity, NEW.verb, NEW.event, NEW.version, NEW.actor, NEW.created_at,
          NEW.created_by, NEW.digest, NEW.hash)
        <> (OLD.seq, OLD.id, OLD.at, OLD.type, OLD.entity, OLD.verb, OLD.event, OLD.version, OLD.actor, OLD.created_at,
          OLD.created_by, OLD.digest, OLD.hash)
      OR NEW.correlation IS NOT OLD.correlation OR NEW.replaced IS NOT OLD.replaced
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,
  'ALTER TABLE past RENAME TO past_1',
  `CREATE TABLE past (
    n INTEGER NOT NULL,
    until INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (n, until)) WITHOUT ROWID`,
  'INSERT INTO past (n, until, seq) SELECT n, until, seq FROM past_1 ORDER BY n, until',
  'DROP TABLE past_1',
  `INSERT INTO meta (key, value) SELECT 'past.seq', coalesce(max(seq), 0) FROM log`,
]
