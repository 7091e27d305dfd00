import { type EventProof, noteText, Problem, type SealedEntry, toBase64 } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { BEGINNING, chain, hasOwnValues, headerText, type LogRow, readEntry, readEntryOf } from '../../store/log/log.ts'
import { readSealed, type SealedRow } from '../../store/log/verify.ts'
import { notFound } from '../../write/verb.ts'
import { wholeTree } from './catch-up.ts'
import type { Checkpoints } from './checkpoints.ts'
import { Tree } from './tree.ts'

/** Proves an event, by its id or its seq, to a grant that sees it; in the tree of an earlier size when one is given. */
export async function proveEvent(
  engine: Engine,
  checkpoints: Checkpoints,
  grant: Grant,
  id: string,
  earlier: number | null,
): Promise<EventProof> {
  visibleRecord(engine, grant, id)
  const checkpoint = earlier === null ? await checkpoints.current() : null
  await wholeTree(engine)
  const size = earlier ?? checkpoint!.size
  // Read again: a grant may have ended, or values been erased, while the tree was made.
  const record = visibleRecord(engine, grant, id)
  const { seq } = record
  if (size > engine.head.seq || seq > size) {
    throw new Problem('invalid_parameter', `size must be a whole number from ${seq} to ${engine.head.seq}.`, {
      field: 'size',
    })
  }
  const sealed = readSealed(engine.sql, engine.ports.seal, seq - 1, 1)[0]!
  return {
    event: record.id,
    seq,
    size,
    leaf: toBase64(sealed.hash),
    proof: new Tree(engine, size).inclusion(seq).map(toBase64),
    checkpoint: checkpoint && noteText(checkpoint.note),
    key: checkpoint?.key ?? null,
    witnesses: checkpoint?.witnesses ?? [],
    entry: entryOf(engine, sealed, record),
  }
}

function visibleRecord(engine: Engine, grant: Grant, id: string): LogRow {
  const record = /^\d{1,15}$/.test(id) ? readEntry(engine.sql, Number(id)) : readEntryOf(engine.sql, id)
  const shown = record && visibilityOf(engine, grant, null).show(record)
  if (!shown) throw notFound('Event', id)
  return shown
}

function entryOf({ sql, ports: { seal } }: Engine, sealed: SealedRow, shown: LogRow): SealedEntry {
  const before = sealed.seq === 1 ? BEGINNING.hash : readSealed(sql, seal, sealed.seq - 2, 1)[0]!.hash
  const isSealed =
    hasOwnValues(seal, sealed) && seal.equal(chain(seal, before, sealed.seq, sealed, sealed.digest), sealed.hash)
  if (!isSealed) {
    throw new Problem(
      'unavailable',
      `Event ${sealed.seq} does not match its digest: the file of this tenant was changed. Restore it from a backup.`,
    )
  }
  // With the salt, values that are hidden could be guessed from the digest; values without a salt prove nothing.
  const isWhole = shown.data === sealed.data && shown.previous === sealed.previous && shown.args === sealed.args
  return {
    before: toBase64(before),
    header: headerText(sealed.seq, sealed),
    digest: toBase64(sealed.digest),
    salt: isWhole && sealed.salt !== null ? toBase64(sealed.salt) : null,
    data: isWhole ? sealed.data : null,
    previous: isWhole ? sealed.previous : null,
    args: isWhole ? sealed.args : null,
  }
}
