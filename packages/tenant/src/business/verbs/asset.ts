import { type FileValue, isFileValue, type Json, type JsonObject, sameJson } from '@tildebase/nouns'
import { type Content, contentOf } from '../../store/files/contents.ts'
import type { Derive } from '../../write/write.ts'

/** The fields of an Asset that describe its file. They follow the next file, unless the same write gives them. */
export const assetFields: Derive = ({ write, id, state, before, given }) => {
  const file = state.file ?? null
  if (!Object.hasOwn(given, 'file') || sameJson(file, before?.file ?? null)) return state
  const follows = isFileValue(file)
    ? fieldsOf(file, contentOf(write.sql, file.hash), `${write.context.url ?? write.engine.context}/Asset/${id}/file`)
    : NOTHING
  const next: { [field: string]: Json } = { ...state }
  for (const [field, value] of Object.entries(follows)) {
    if (Object.hasOwn(given, field)) continue
    if (value === null) delete next[field]
    else next[field] = value
  }
  return next
}

const NOTHING = { filename: null, mimeType: null, extension: null, size: null, width: null, height: null, url: null }

function fieldsOf({ name, type, size }: FileValue, content: Content | null, url: string): JsonObject {
  return {
    filename: name,
    mimeType: type,
    extension: /[^.]\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1]?.toLowerCase() ?? null,
    size,
    width: content?.width ?? null,
    height: content?.height ?? null,
    url,
  }
}
