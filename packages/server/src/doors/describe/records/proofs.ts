import { record, type Schema, TEXT, TEXT_OR_NULL, WHOLE } from '../schema.ts'

/** What the routes of proofs answer. */
export const PROOF_RECORDS: { readonly [name: string]: Schema } = {
  Checkpoint: record(
    'A signed checkpoint of the log. With Accept: text/plain only the signed note is returned.',
    {
      origin: TEXT,
      size: WHOLE,
      root: TEXT,
      note: TEXT,
      key: TEXT,
      witnesses: {
        type: 'array',
        items: record('', { name: TEXT, size: WHOLE, cosignedAt: TEXT_OR_NULL, error: TEXT_OR_NULL }, ['name', 'size']),
      },
      lineage: {
        type: 'array',
        items: record('', { origin: TEXT, size: WHOLE, root: TEXT }, ['origin', 'size', 'root']),
      },
    },
    ['origin', 'size', 'root', 'note', 'key', 'witnesses', 'lineage'],
  ),
  EventProof: record(
    'The proof that an event is in the log. Hashes are base64.',
    {
      event: TEXT,
      seq: WHOLE,
      size: WHOLE,
      leaf: TEXT,
      proof: { type: 'array', items: TEXT },
      checkpoint: TEXT_OR_NULL,
      key: TEXT_OR_NULL,
      witnesses: { type: 'array', items: TEXT },
      entry: record(
        'The input of the hash of the event.',
        {
          before: TEXT,
          header: TEXT,
          digest: TEXT,
          salt: TEXT_OR_NULL,
          data: TEXT_OR_NULL,
          previous: TEXT_OR_NULL,
          args: TEXT_OR_NULL,
        },
        ['before', 'header', 'digest', 'salt', 'data', 'previous', 'args'],
      ),
    },
    ['event', 'seq', 'size', 'leaf', 'proof', 'checkpoint', 'key', 'witnesses', 'entry'],
  ),
  ConsistencyProof: record(
    'The proof that an earlier log is the beginning of a later one.',
    { from: WHOLE, to: WHOLE, proof: { type: 'array', items: TEXT } },
    ['from', 'to', 'proof'],
  ),
}
