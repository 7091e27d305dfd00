import { type FileValue, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { Job } from '../../engine/scheduler.ts'
import {
  addKeyToRemove,
  contentOf,
  dropKeyToRemove,
  forgetContent,
  isField,
  isFieldOf,
  isKeyUsed,
  keptBytes,
  keysToRemove,
  oldestUnused,
  saveContent,
  saveSender,
  saveUse,
  unusedContents,
  usedKeys,
} from '../../store/files/contents.ts'
import { dropUpload, endedUploads, nextUploadEnd } from '../../store/files/uploads.ts'
import { getMeta, setMeta } from '../../store/meta.ts'
import { mayUse, senderOf } from '../../write/files.ts'
import type { TransactionListener, Write } from '../../write/write.ts'
import { blobsOf, fileOptions, isUncommitted, type ReceivedContent, settled, tooMuch } from './receive.ts'

/** Makes contents that were received part of the tenant. They can be named by the same write. */
export function admitContents(write: Write, contents: readonly ReceivedContent[]): void {
  const { sql, engine, grant } = write
  const { total } = fileOptions(engine)
  const at = engine.ports.clock.now()
  for (const content of contents) {
    saveContent(sql, content, at)
    saveSender(sql, content.hash, senderOf(grant), content, at)
    if (total !== null && keptBytes(sql).total > total) throw tooMuch(total)
  }
  if (contents.length === 0) return
  if (getMeta(sql, COMPARED) === null) setMeta(sql, COMPARED, String(at))
  write.wakeAt(at + fileOptions(engine).orphansMs)
}

/** Removes the bytes of contents that did not become part of the tenant: it was refused, or it was there already. */
export async function dropUnneeded(engine: Engine, contents: readonly ReceivedContent[]): Promise<void> {
  for (const { key, hash } of contents) {
    if (!isKeyUsed(engine.sql, key, hash)) await blobsOf(engine).remove(key)
    settled(engine, key)
  }
}

/** Where the bytes of an entity's file are. Null for a hash that was not stored as a file of this entity. */
export function keyOfFile({ sql }: Engine, entity: string, { hash }: FileValue): string | null {
  const content = isFieldOf(sql, hash, entity) ? contentOf(sql, hash) : null
  if (content && content.key === null)
    throw new Problem('unavailable', 'The bytes of this file have not been restored yet.', { retryAfter: 60 })
  return content?.key ?? null
}

const NAME_BEGIN = '"sha256:'
const NAMED = /"(sha256:[0-9a-f]{64})"/g

/** So many names of one event are looked at. */
const MOST_NAMED = 1_000

/**
 * Keeps the content that an event names anywhere: in the arguments of a verb, or in a proposal. A file of an entity that the
 * writer may not read is not kept by its name: it would outlive the erasure of the entity.
 */
export const keepNamedContents: TransactionListener = (write, { seq, type, entity, data, args }) => {
  // Nearly all events name none.
  if (!data?.includes(NAME_BEGIN) && !args?.includes(NAME_BEGIN)) return
  const { sql } = write
  const hashes = new Set([data, args].flatMap((text) => [...(text ?? '').matchAll(NAMED)].map(([, hash]) => hash!)))
  for (const hash of [...hashes].slice(0, MOST_NAMED)) {
    if (contentOf(sql, hash) === null || isFieldOf(sql, hash, entity)) continue
    if (!isField(sql, hash) || mayUse(write, hash)) saveUse(sql, hash, { entity, type }, seq, false)
  }
}

/** How much one run of the job does. */
const SLICE = 100
const SECOND = 1_000
/** When the store was last compared with the tenant. */
const COMPARED = 'files.compared'

/** Forgets what nothing names and uploads that were not finished, and removes their bytes after the commit. */
export function collectionJob(engine: Engine): Job {
  const { sql, ports } = engine
  const now = () => ports.clock.now()
  const age = () => fileOptions(engine).orphansMs
  return {
    due() {
      if (!ports.blobs) return null
      if (keysToRemove(sql, 1).length > 0) return now()
      const unused = oldestUnused(sql)
      const dues = [unused === null ? null : unused + age(), nextUploadEnd(sql), comparison()]
      return dues.reduce((first, due) => (first === null || (due !== null && due < first) ? due : first), null)
    },
    async run() {
      const { blobs } = ports
      if (!blobs) return
      engine.commit(() => {
        for (const hash of unusedContents(sql, now() - age(), SLICE)) forgetContent(sql, hash)
        for (const id of endedUploads(sql, now(), SLICE)) dropUpload(sql, id)
      })
      for (const key of keysToRemove(sql, SLICE)) {
        await blobs.remove(key)
        engine.commit(() => dropKeyToRemove(sql, key))
      }
      if ((comparison() ?? now() + 1) <= now()) await compare()
    },
  }

  /** From time to time, where there is any content: a process that ended in the middle may have left bytes. */
  function comparison(): number | null {
    const last = getMeta(sql, COMPARED)
    return last === null ? null : Number(last) + Math.max(age(), SECOND)
  }

  async function compare(): Promise<void> {
    const used = usedKeys(sql)
    const oldest = now() - age()
    for await (const { key, at } of blobsOf(engine).list()) {
      if (at >= oldest || used.has(key) || isUncommitted(engine, key)) continue
      engine.commit(() => {
        if (!isKeyUsed(sql, key)) addKeyToRemove(sql, key)
      })
    }
    engine.commit(() => setMeta(sql, COMPARED, String(now())))
  }
}
