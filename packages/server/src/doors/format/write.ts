import type { JsonObject, Noun } from '@tildebase/nouns'
import { entityView, type Stored } from '@tildebase/tenant'
import { entityText } from '@tildebase/tenant/internal'
import { secretNames } from './columns.ts'

/** What is written, and how. */
export interface Writing {
  readonly noun: Noun
  /** Reads the entities from the first, several times if necessary. */
  readonly pages: () => Iterable<readonly Stored[]>
  /** The fields to show; null is all of them. */
  readonly fields: readonly string[] | null
  readonly context: string
  /** Whether texts that a spreadsheet would run are disarmed. */
  readonly safe: boolean
}

/** A file bit by bit. A null says that work was done and others may have their turn. */
export type Pieces = Generator<string | Uint8Array | null>

/** One JSON array of entities. */
export function* writeJson(writing: Writing): Pieces {
  const text = entityWriter(writing)
  let before = '['
  for (const page of writing.pages()) {
    yield page.length === 0 ? null : before + page.map(text).join(',\n')
    if (page.length > 0) before = ',\n'
  }
  yield before === '[' ? '[]' : ']'
}

/** One entity per line. */
export function* writeNdjson(writing: Writing): Pieces {
  const text = entityWriter(writing)
  for (const page of writing.pages()) yield page.length === 0 ? null : `${page.map(text).join('\n')}\n`
}

function entityWriter({ noun, fields, context }: Writing): (entity: Stored) => string {
  const secrets = secretNames(noun)
  if (fields === null && secrets.size === 0) return (entity) => entityText(entity, context)
  const shown = fields && new Set(['$id', '$type', ...fields])
  const visible = (name: string) => !secrets.has(name) && (shown === null || shown.has(name))
  return (entity) => {
    const view: JsonObject = entityView(entity, context)
    return JSON.stringify(Object.fromEntries(Object.entries(view).filter(([name]) => visible(name))))
  }
}
