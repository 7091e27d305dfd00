/** From layout 4 to 5: events keep the arguments of their verb, which an erasure takes out too. */
export const FROM_4: readonly string[] = [
  'ALTER TABLE log ADD COLUMN args TEXT',
  'DROP TRIGGER log_unchanged',
  `CREATE TRIGGER log_unchanged BEFORE UPDATE ON log
    WHEN NEW.data IS NOT NULL OR NEW.previous IS NOT NULL OR NEW.args IS NOT NULL OR NEW.salt IS NOT NULL
      OR (NEW.seq, NEW.id, NEW.at, NEW.type, NEW.entity, NEW.verb, NEW.event, NEW.version, NEW.actor, NEW.created_at,
          NEW.created_by, NEW.digest, NEW.hash)
        <> (OLD.seq, OLD.id, OLD.at, OLD.type, OLD.entity, OLD.verb, OLD.event, OLD.version, OLD.actor, OLD.created_at,
          OLD.created_by, OLD.digest, OLD.hash)
      OR NEW.correlation IS NOT OLD.correlation OR NEW.replaced IS NOT OLD.replaced
    BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END`,
]
