import type { JsonObject, Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { saveContent, saveUse } from '../../store/files/contents.ts'
import type { LogRow } from '../../store/log/log.ts'
import { fileFields, filesIn } from '../../write/files.ts'

/** A file value as it is stored. */
const VALUE = /"hash":"(sha256:[0-9a-f]{64})","size":(\d{1,16})/g

/** Notes the contents that an event of a replayed log names. Their bytes are still to come. */
export function noteReplayedFiles({ sql }: Engine, noun: Noun | undefined, event: LogRow): void {
  const { seq, type, entity, data, args, previous } = event
  for (const text of [data, args]) {
    if (text === null || !text.includes('"sha256:')) continue
    for (const [, hash, size] of text.matchAll(VALUE)) {
      saveContent(sql, { hash: hash!, key: null, size: Number(size), width: null, height: null }, event.at)
      saveUse(sql, hash!, { entity, type }, seq, false)
    }
  }
  if (noun === undefined || data === null || fileFields(noun).length === 0) return
  const state = JSON.parse(data) as JsonObject
  // Only a field that the event changed was checked: before its declaration it may have held any JSON.
  const changed = previous === null ? state : (JSON.parse(previous) as JsonObject)
  for (const { name } of fileFields(noun)) {
    if (!Object.hasOwn(changed, name)) continue
    for (const { hash } of filesIn(state[name])) saveUse(sql, hash, { entity, type }, seq, true)
  }
}
