import { ANY_OBJECT, body, ref } from './common.ts'
import type { KnownPaths } from './known-path.ts'
import { params } from './parameters.ts'
import type { Schema } from './schemas.ts'

/** An object of these strings. */
function strings(...names: readonly string[]): Schema {
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return { type: 'object', properties, required: names }
}

/** What a migration answers, or what it would do. */
const MIGRATED = {
  anyOf: [
    {
      type: 'object',
      properties: { migrated: { type: 'integer' }, type: ANY_OBJECT },
      required: ['migrated', 'type'],
    },
    ref('DryRun'),
  ],
}

/** Types, their migrations and hooks. */
export const SCHEMA_PATHS: KnownPaths = {
  'GET /schema': { success: ref('Types') },
  'GET /llms.txt': { isText: true },
  'PUT /schema/:type': {
    requestBody: body(
      ANY_OBJECT,
      true,
      { name: 'string!', colour: 'Red | Green = Red', paint: { args: ['colour'] } },
      'The type in the noun notation: strings are fields, objects are verbs.',
    ),
  },
  'POST /schema/:type/rename': {
    parameters: params('dryRun'),
    requestBody: body(
      strings('from', 'to'),
      true,
      { from: 'plate', to: 'registration' },
      'The present name of the field, and the new one.',
    ),
    success: MIGRATED,
  },
  'POST /schema/:type/retype': {
    parameters: params('dryRun'),
    requestBody: body(
      strings('field', 'to'),
      true,
      { field: 'size', to: 'number' },
      'The field, and its new notation.',
    ),
    success: MIGRATED,
  },
  'PUT /schema/:type/hooks/:name': {
    requestBody: body(
      { type: 'object', properties: { code: { type: 'string' } }, required: ['code'] },
      true,
      { code: '(entity) => ({ name: entity.name.trim() })' },
      'The code of the hook: a function of the entity, the tenant and the arguments.',
    ),
  },
}
