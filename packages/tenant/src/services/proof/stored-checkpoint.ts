import { type Checkpoint, type Note, noteText, parseCheckpoint, parseNote } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { CUT, getMeta, removeMeta, setMeta } from '../../store/meta.ts'

// These keys go along with backups, forks and logs on their way to another host.
const CHECKPOINT = 'proof.checkpoint'
const LINEAGE = 'proof.lineage'

/** A checkpoint that was signed. */
export interface SignedCheckpoint extends Checkpoint {
  readonly note: Note
}

/** A log that was signed before this one: it was forked, moved or restored to an earlier time since. */
export interface Ancestor {
  readonly origin: string
  /** How many events of it, at least, are the beginning of this one. */
  readonly size: number
}

/** The name that checkpoints of a tenant are signed under: `{host}/~{tenant}`. */
export function originOf({ slug, options }: Engine): string {
  const url = options.signedUrl ?? options.baseUrl
  return `${url.replace(/^https?:\/\//, '')}/~${slug}`
}

/** The last checkpoint that was signed, under whichever name; null before the first. */
export function storedCheckpoint({ sql }: Engine): SignedCheckpoint | null {
  const text = getMeta(sql, CHECKPOINT)
  const note = text === null ? null : parseNote(text)
  const checkpoint = note && parseCheckpoint(note.text)
  return note && checkpoint && { ...checkpoint, note }
}

/** Whether the log is a copy that was cut, of which nothing was signed since. */
export function isCut({ sql }: Engine): boolean {
  return getMeta(sql, CUT) !== null
}

/** Keeps a checkpoint, unless a later one is kept already. When the log has a new name, or was cut, the last one is an ancestor. */
export function storeCheckpoint(engine: Engine, checkpoint: SignedCheckpoint): void {
  const { sql, head } = engine
  if (checkpoint.size === 0) return
  sql.transaction(() => {
    const before = storedCheckpoint(engine)
    const isNewTree = before !== null && (before.origin !== checkpoint.origin || isCut(engine))
    if (isNewTree) {
      const size = Math.min(before.size, Number(getMeta(sql, CUT) ?? head.seq))
      const ancestor: Ancestor = { origin: before.origin, size }
      setMeta(sql, LINEAGE, JSON.stringify([...ancestors(engine), ancestor]))
    } else if (before && before.size > checkpoint.size) return
    setMeta(sql, CHECKPOINT, noteText(checkpoint.note))
    removeMeta(sql, CUT)
  })
}

/** The names that this log was signed under before, oldest first. */
export function ancestors({ sql }: Engine): readonly Ancestor[] {
  return JSON.parse(getMeta(sql, LINEAGE) ?? '[]')
}
