import { nameIn } from './names.ts'

export const ENTITY_TABLES: readonly string[] = [
  // The present: one row per entity, in creation order, that points to the newest event of the entity: its state is there.
  // A deleted one stays, gone = 1, so that it can be restored. `measured` has what metrics add up, for types that have that.
  `CREATE TABLE entities (
    n INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    type INTEGER NOT NULL,
    gone INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    created_by INTEGER NOT NULL,
    measured TEXT)`,
  // An entity by its id.
  'CREATE UNIQUE INDEX entities_id ON entities (id)',
  // The entities of a type in the order of creation (an index holds the number of its rows): lists, scans, counts.
  'CREATE INDEX entities_type ON entities (type, gone)',

  // Entities with their state and with names instead of numbers, for people and for statements that are not in a hurry.
  `CREATE VIEW states AS
    SELECT entities.n, entities.id, ${nameIn('entities.type')} AS type, entities.gone, entities.seq, log.version,
      entities.created_at, ${nameIn('entities.created_by')} AS created_by, log.at AS updated_at,
      coalesce(log.data, '{}') AS data
    FROM entities LEFT JOIN log ON log.seq = entities.seq`,
]
