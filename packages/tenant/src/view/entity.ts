import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Stored } from '../store/entities.ts'

/** An entity as JSON text: its meta-fields, then the stored text as it is, unparsed. */
export function entityText(entity: Stored, context: string): string {
  const extra = entity.extra ? JSON.stringify(entity.extra).slice(1, -1) : ''
  const data = entity.data.slice(1, -1)
  // Embedded relations replace the ids that are in the data: the last of two equal keys is the one that counts,
  // but not every reader knows that, so the data is written without them.
  if (extra !== '') return JSON.stringify(entityView(entity, context))
  return `${metaText(entity, context)}${data === '' ? '' : `,${data}`}}`
}

/** An entity as an object: meta-fields, fields, embedded relations. */
export function entityView(entity: Stored, context: string): JsonObject {
  const created = isoOf(entity.createdAt)
  const updated = isoOf(entity.updatedAt)
  return {
    $id: entity.id,
    $type: entity.type,
    $context: context,
    $version: entity.version,
    $createdAt: created,
    $updatedAt: updated,
    $createdBy: entity.createdBy,
    createdAt: created,
    updatedAt: updated,
    ...(JSON.parse(entity.data) as JsonObject),
    ...entity.extra,
  }
}

function metaText(entity: Stored, context: string): string {
  const created = isoOf(entity.createdAt)
  const updated = entity.updatedAt === entity.createdAt ? created : isoOf(entity.updatedAt)
  return (
    `{"$id":"${entity.id}","$type":"${entity.type}","$context":${contexts.text(context)},"$version":${entity.version},` +
    `"$createdAt":"${created}","$updatedAt":"${updated}","$createdBy":${makers.text(entity.createdBy)},` +
    `"createdAt":"${created}","updatedAt":"${updated}"`
  )
}

/** Texts as JSON. Entities that are shown one after the other mostly have the same. */
class LastText {
  #value = ''
  #text = '""'

  text(value: string): string {
    if (value !== this.#value) {
      this.#text = JSON.stringify(value)
      this.#value = value
    }
    return this.#text
  }
}

const contexts = new LastText()
const makers = new LastText()
