import { requirements } from './requirement.ts'

/** Import, export and the manifest. */
export const bulk = requirements('bulk', {
  'service.md#Import': {
    'bulk.both': 'Entities can be imported and exported in bulk.',
    'import.detail.shape': 'An import detail has row and error.',
    'import.json': 'POST /import/:type takes a JSON array of entities.',
    'import.ndjson': 'POST /import/:type takes NDJSON, an object in each line.',
    'import.answer': 'Import answers success, imported, errors and details.',
    'import.rows': 'A row that is rejected is in details, and the other rows are imported.',
    'import.error.text': 'error names a required field that is missing, or a unique value that is taken.',
  },
  'service.md#Manifest': {
    'manifest.entry': 'A manifest file entry has hash as sha256:<hex>, size and records.',
    'manifest.files': 'GET /manifest answers files, keyed by names such as <Type>.parquet.',
    'manifest.generatedAt': 'GET /manifest answers generatedAt.',
    'manifest.compare': 'The hash of a type changes when its data does, so that clients can compare.',
  },
  'service.md#Errors': {
    'import.rejected': 'A rejected row is listed with its row number, and the counts tell imported and errors.',
  },
  'service.md#Export': {
    'export.all': 'GET /export/:type returns every entity of the type.',
    'export.format': 'format is json, csv or parquet and defaults to json.',
    'export.filter': 'filter narrows an export and defaults to {}.',
  },
  G1: {
    'import.csv': 'Import takes text/csv.',
    'import.row.zero': 'row is the zero-based index of the row.',
    'import.line': 'NDJSON and CSV details add line.',
    'import.success': 'success is true when the request was processed to the end.',
    'import.events': 'Every imported row is a create with its event.',
    'import.details.cap': 'After 10,000 details detailsTruncated is true.',
    'import.streams': 'The memory of an import does not grow with the size of the body.',
    'import.gzip': 'Content-Encoding: gzip is accepted.',
    'import.gzip.bounded': 'A gzip body is bounded after inflation.',
  },
  G5: {
    'import.parts': 'With more, rows that refer to rows of other requests are returned in waiting and not refused.',
    'import.long':
      'A file of any length is imported, within the limits of every host and through restarts, each row once.',
  },
  G2: {
    'export.streams': 'The memory of an export does not grow with the number of entities.',
    'export.json': 'json is an array of entities.',
    'export.csv': 'csv follows RFC 4180, header first, declared fields and then others, JSON for nested values.',
    'export.parquet': 'parquet has typed columns, and undeclared fields as one JSON column.',
    'export.ndjson': 'ndjson is one entity per line.',
    'export.asOf': 'Export accepts asOf.',
    'export.roundTrip': 'Exporting and importing into an empty tenant gives the same entities.',
  },
  R8: {
    'export.ranges': 'Parquet exports take HEAD, with the length, and Range; other formats say Accept-Ranges: none.',
  },
  G3: {
    'manifest.hash': 'A manifest hash is the SHA-256 of the bytes that the parquet export of the type returns.',
    'manifest.stable': 'A manifest hash is stable while the type is unchanged.',
  },
  M5: {
    'csv.string': 'A string is a CSV cell as itself, unless it is empty or would parse as JSON.',
    'csv.json': 'Such a string, and every other value, is a CSV cell as JSON.',
    'csv.absent': 'An absent field is an empty CSV cell.',
    'csv.typed': 'Declared fields are read from CSV by their type.',
  },
})

/** Synchronisation with a local database. */
export const sync = requirements('sync', {
  'service.md#Sync': {
    'sync.local': 'Changes can be synchronised with a local database.',
    'sync.change': 'A sync change has type, id, operation, data and timestamp.',
    'sync.both': 'POST /sync synchronises in both directions.',
    'sync.lastWrite': 'The last write wins a conflict.',
    'sync.clocks': 'Vector clocks are supported.',
    'sync.request': 'A request has lastSyncAt and changes.',
    'sync.answer': 'An answer has success, applied, conflicts, serverChanges and syncedAt.',
    'sync.serverChanges': 'serverChanges are the changes made on the server since lastSyncAt.',
    'sync.syncedAt': 'syncedAt is the server time of the sync.',
  },
  G4: {
    'sync.operations': 'Sync takes create, update and delete.',
    'sync.clock': 'A change may carry clock, and the changes of the answer carry it too.',
    'sync.concurrent': 'Two changes are concurrent when neither clock covers the other.',
    'sync.concurrent.clockless':
      'Without clocks two changes are concurrent when the server changed the same field after lastSyncAt.',
    'sync.field': 'Per field the later timestamp wins.',
    'sync.field.tie': 'At equal timestamps the greater replica id wins.',
    'sync.conflicts': 'A change that loses on every field counts in conflicts, any other in applied.',
    'sync.rejected': 'An invalid change counts in neither and is listed in rejected as {index, error}.',
    'sync.repeat': 'Repeating a request applies nothing twice.',
    'sync.paged': 'A long answer is paged: hasMore is true and syncedAt is the position reached.',
    'sync.converges': 'Replicas that have exchanged all changes hold the same entities.',
  },
  M6: {
    'sync.replica': 'replica names the client, else the id of the key does.',
    'sync.decided': 'serverChanges carry the timestamp that decided.',
    'sync.echo': 'serverChanges leave out what this request applied unchanged.',
    'sync.delete': 'Between a delete and a concurrent update the later timestamp wins.',
    'sync.create.existing': 'create on an existing id merges like an update.',
    'sync.update.unknown': 'update on an unknown id is rejected.',
    'sync.repeat.applied': 'A repeated change counts in applied and writes nothing.',
  },
})
