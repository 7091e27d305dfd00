import { ANY_OBJECT, NUMBER_OR_NULL, record, ref, type Schema, TEXT, WHOLE } from '../schema.ts'

/** What the routes of changesets answer. */
export const CHANGESET_RECORDS: { readonly [name: string]: Schema } = {
  Operation: record(
    'A verb of a changeset, with its number.',
    {
      number: WHOLE,
      type: TEXT,
      verb: TEXT,
      id: TEXT,
      data: ANY_OBJECT,
      fields: { type: 'array', items: TEXT },
      base: WHOLE,
    },
    ['number', 'type', 'verb', 'id'],
  ),
  ChangesetConflict: record(
    'The reason why an operation cannot run as proposed.',
    { operation: WHOLE, type: TEXT, id: TEXT, field: TEXT, reason: TEXT },
    ['operation', 'type', 'id', 'reason'],
  ),
  ChangesetEffect: record(
    'What an open changeset would change in numbers. Only what differs is listed.',
    {
      metrics: {
        type: 'array',
        items: record('A built-in metric.', { name: TEXT, unit: TEXT, from: NUMBER_OR_NULL, to: NUMBER_OR_NULL }, [
          'name',
          'unit',
          'from',
          'to',
        ]),
      },
      aggregates: {
        type: 'array',
        items: record(
          'The number of entities of a type, or the sum of a field; of all of them, or of a group.',
          {
            type: TEXT,
            measure: { enum: ['count', 'sum'] },
            field: TEXT,
            group: ANY_OBJECT,
            from: { type: 'number' },
            to: { type: 'number' },
          },
          ['type', 'measure', 'from', 'to'],
        ),
      },
    },
    ['metrics', 'aggregates'],
  ),
  ChangesetReview: {
    allOf: [ref('Meta')],
    ...record(
      'A changeset with its operations, its diff against the current state and its conflicts.',
      {
        title: TEXT,
        state: { enum: ['Open', 'Approved', 'Rejected', 'Stale'] },
        author: TEXT,
        base: WHOLE,
        operations: { type: 'array', items: ref('Operation') },
        diff: {
          type: 'array',
          items: record(
            '',
            {
              operation: WHOLE,
              type: TEXT,
              id: TEXT,
              verb: TEXT,
              changes: { type: 'object', additionalProperties: record('', { from: {}, to: {} }, ['from', 'to']) },
            },
            ['operation', 'type', 'id', 'verb', 'changes'],
          ),
        },
        conflicts: { type: 'array', items: ref('ChangesetConflict') },
        messages: { type: 'array', items: record('', { operation: WHOLE, message: TEXT }, ['operation', 'message']) },
        preview: { description: 'The answer that the write would have returned; only in the answer to a proposal.' },
      },
      ['title', 'state', 'operations'],
    ),
  },
}
