import { FILES } from '../files/file-tables.ts'

/**
 * From layout 9 to 10: events of a past that was imported also have the time at which they were recorded; and the contents
 * of files.
 */
export const FROM_9: readonly string[] = [
  `ALTER TABLE log ADD COLUMN recorded_at INTEGER`,
  `DROP TRIGGER IF EXISTS log_unchanged`,
  `CREATE TRIGGER log_unchanged BEFORE UPDATE ON log
    WHEN NEW.data IS NOT NULL OR NEW.previous IS NOT NULL OR NEW.args IS NOT NULL OR NEW.salt IS NOT NULL
      OR (NEW.seq, NEW.id, NEW.at, NEW.type, NEW.entity, NEW.verb, NEW.event, NEW.version, NEW.actor, NEW.created_at,
          NEW.created_by, NEW.digest, NEW.hash)
        <> (OLD.seq, OLD.id, OLD.at, OLD.type, OLD.entity, OLD.verb, OLD.event, OLD.version, OLD.actor, OLD.created_at,
          OLD.created_by, OLD.digest, OLD.hash)
      OR NEW.correlation IS NOT OLD.correlation OR NEW.replaced IS NOT OLD.replaced
      OR NEW.on_behalf_of IS NOT OLD.on_behalf_of OR NEW.recorded_at IS NOT OLD.recorded_at
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,
  ...FILES,
]
