import type { Engine } from '../engine/engine.ts'
import type { Job } from '../engine/scheduler.ts'
import {
  beginMergeOfAll,
  indexText,
  isLongBacklog,
  MERGED_PARTS,
  mergeText,
  setMerging,
  textBacklog,
} from '../query/words/text-index.ts'
import type { LogRow } from '../store/log/log.ts'
import { indexVersions, versionsBacklog } from '../store/log/versions.ts'
import { extendTree, treeBacklog } from './proof/tree.ts'

const QUIET_MS = 300
/** The more at once, the fewer pages are written; this many take some 20 ms. */
const VERSIONS_SLICE = 2_000
/** Indexing the text of this many events takes a few milliseconds, unless they are long. */
const FEW_EVENTS = 100
/** Steps of merging between two slices. Merging the words of a slice takes about two in all, unless they are long. */
const MERGES = 4
/** So many replaced rows do not make questions slow. */
const FEW_REPLACED = 1_000
/** Hashing this many takes some seconds: a checkpoint that is asked for waits no longer than that. */
const MOST_UNHASHED = 1_000_000
/** Indexing this many keeps the search that finds them waiting for some tenths of a second. */
const MOST_BEHIND = 10_000
/** Behind an import more may be missing: indexed next to it, the import takes up to 1.7 times as long. */
const MOST_BEHIND_IMPORT = 200_000
const MOST_BEHIND_PAST = 2_000_000
/** A commit of so many events is part of an import, which continues with smaller ones on a busy machine. */
const IMPORT_EVENTS = 100
const IMPORT_MS = 2_000

/**
 * Brings the text index, the versions and the hash tree up to the log once writing pauses, a slice at a time, so that the
 * first question need not. While writing does not pause, the indexes continue next to it; the tree waits for the pause, unless
 * too much of it is missing.
 */
export class IndexJob implements Job {
  readonly light = true
  readonly #engine: Engine
  /** The last write. What is due when a tenant is opened writes first, and is indexed together with the rest. */
  #written: number
  /** How many events are to be indexed, or more: what a question indexed is not subtracted. */
  #behind: number
  /** The event up to which the past is known to be folded. */
  #folded: number
  /** The last commit of an import. */
  #imported = Number.NEGATIVE_INFINITY
  /** Rows of the text index that were replaced since its parts were merged. */
  #replaced = 0
  /** Slices of the text index that were written since its parts were merged. */
  #unmerged = 0
  /** Steps of merging that come before the next slice. */
  #merges = 0
  /** How many of them may be missing while writing continues. */
  #most = MOST_BEHIND

  constructor(engine: Engine) {
    this.#engine = engine
    const { sql, head } = engine
    this.#written = engine.ports.clock.now()
    const unfolded = head.seq && versionsBacklog(sql)
    this.#folded = head.seq - unfolded
    this.#behind = head.seq && Math.max(textBacklog(sql, head.seq), unfolded, treeBacklog(engine))
    engine.listen((events) => {
      const wasDue = this.due()
      this.#written = engine.ports.clock.now()
      this.#behind += events.length
      this.#most = this.#mostBehind(events)
      if (wasDue === null || this.#behind > this.#most) engine.ports.alarm.wakeAt(this.due()!)
    })
  }

  /** How many events may be missing while commits like this one continue. */
  #mostBehind(events: readonly LogRow[]): number {
    if (events.some(({ recordedAt }) => recordedAt !== null)) return MOST_BEHIND_PAST
    if (events.length >= IMPORT_EVENTS) this.#imported = this.#written
    return this.#written < this.#imported + IMPORT_MS ? MOST_BEHIND_IMPORT : MOST_BEHIND
  }

  due(): number | null {
    if (this.#behind === 0) return null
    return this.#behind > this.#most ? this.#written : this.#written + QUIET_MS
  }

  run(): void {
    if (this.runSlice() && !(this.#extendTree() && this.#isMerged())) this.#behind = 1
  }

  /** Whether the parts of the text index are merged: in a pause to one, once many of its rows were replaced. */
  #isMerged(): boolean {
    const { sql, head, ports } = this.#engine
    if (this.#unmerged >= MERGED_PARTS) return this.#merge()
    if (this.#replaced < Math.max(FEW_REPLACED, head.seq / 10)) return true
    if (ports.clock.now() < this.#written + QUIET_MS) return false
    beginMergeOfAll(sql)
    this.#replaced = 0
    this.#unmerged = MERGED_PARTS
    return false
  }

  /** Merges parts of the text index in one step. Returns whether all are merged. */
  #merge(): boolean {
    const isMerged = mergeText(this.#engine.sql)
    this.#merges = isMerged ? 0 : Math.max(0, this.#merges - 1)
    if (isMerged) this.#unmerged = 0
    return isMerged
  }

  /** Extends the tree by a slice, in a pause or when much is missing. Questions about words and the past do not wait for it. */
  #extendTree(): boolean {
    const missing = treeBacklog(this.#engine)
    const isPause = this.#engine.ports.clock.now() >= this.#written + QUIET_MS
    if (missing === 0 || !(isPause || missing > MOST_UNHASHED)) return missing === 0
    return extendTree(this.#engine)
  }

  /** Brings the past up to the log by one slice. Returns whether all of it is there now. */
  foldSlice(): boolean {
    const { sql, head } = this.#engine
    const isFolded = indexVersions(sql, VERSIONS_SLICE) < VERSIONS_SLICE
    if (isFolded) this.#folded = head.seq
    return isFolded
  }

  /** Indexes one slice, or merges what some slices have written. Returns whether all events are indexed now. */
  runSlice(): boolean {
    const { sql, nouns, head } = this.#engine
    if (this.#merges > 0) {
      this.#merge()
      return this.#behind === 0
    }
    let replaced = 0
    const index = () => {
      const isFolded = this.foldSlice()
      setMerging(sql)
      const isIndexed = indexText(sql, nouns, undefined, (rows) => {
        replaced = rows
      })
      return isIndexed && isFolded
    }
    // One commit where there is something to index: a long write begins when nothing is left to sync, and asks before.
    const isDone = this.#behind > 0 ? sql.transaction(index, 'joined') : index()
    this.#replaced += replaced
    if (this.#behind > 0 && ++this.#unmerged >= MERGED_PARTS) this.#merges = MERGES
    this.#behind = isDone ? 0 : Math.max(1, textBacklog(sql, head.seq))
    return isDone
  }

  /** Whether there is more to index than one slice takes. */
  isFarBehind(index: 'words' | 'past'): boolean {
    const { sql, head } = this.#engine
    if (this.#behind === 0) return false
    if (head.seq - this.#folded > VERSIONS_SLICE && versionsBacklog(sql) > VERSIONS_SLICE) return true
    return index === 'words' && (textBacklog(sql, head.seq) > FEW_EVENTS || isLongBacklog(sql, FEW_EVENTS))
  }
}
