import { requirements } from './requirement.ts'

/** What types can declare beyond fields and verbs, and how they change. */
export const types = requirements('rest', {
  R5: {
    'computed.expression':
      'A computed field is an expression over own fields and relations with sum, count, min, max and avg.',
    'computed.query': 'Computed fields can be filtered, sorted and aggregated, also with asOf and in the history.',
    'computed.readonly': 'Writing a computed field answers 422 with the field; imports and syncs leave it out.',
    'computed.consistent': 'Computed fields follow creates, updates, deletes, restores, rollbacks and undos at once.',
    'computed.import': 'An import works out a computed field once per entity and slice.',
    'computed.backfill': 'Declaring a computed field works it out for stored entities.',
    'computed.bounded': 'A change that leads to too many computed fields is refused and writes nothing.',
    'unique.together': 'Fields that are unique together answer 409 conflict with their names.',
    'unique.together.ways': 'Imports, syncs, restores and undos keep fields unique together.',
    'unique.together.stored': 'Declaring fields unique together is refused when stored entities repeat them.',
    'number.range': 'A number with a range is checked, also in OpenAPI.',
    'rename.migrates': 'A rename changes the declaration and the stored entities, each with an event.',
    'rename.past': 'asOf before a rename shows the old name; rollback and restore use the new one.',
    'retype.converts': 'A retype converts stored values; the past keeps the old ones.',
    'retype.refuses': 'A retype that cannot convert an entity names it and changes nothing.',
    'migration.dryRun': 'A rename or retype with dryRun changes nothing.',
  },
  R7: {
    'schema.about': 'PUT …/schema/:Type with only $ keys keeps the rest of the declaration.',
  },
})
