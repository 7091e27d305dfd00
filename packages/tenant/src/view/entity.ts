import { isoOf, type JsonObject } from '@tildebase/nouns'
import type { Stored } from '../store/entities.ts'

/** An entity as JSON text: its meta-fields, then the stored text as it is, unparsed. */
export function entityText(entity: Stored, context: string): string {
  // Embedded relations replace the ids that are in the data: the last of two equal keys is the one that counts,
  // but not every reader knows that, so the data is written without them.
  if (entity.extra && Object.keys(entity.extra).length > 0) return JSON.stringify(entityView(entity, context))
  const { data } = entity
  return data === '{}' ? `${metaText(entity, context)}}` : `${metaText(entity, context)},${data.slice(1)}`
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

/** Of few pieces: those of a page are joined, and that takes as long as there are pieces. */
function metaText({ id, type, version, createdAt, createdBy, updatedAt }: Stored, context: string): string {
  const created = isoOf(createdAt)
  const updated = updatedAt === createdAt ? created : isoOf(updatedAt)
  return `{"$id":"${id}${kinds.text(type, context)}${version},"$createdAt":"${created}","$updatedAt":"${updated}${makers.text(createdBy)}${created}","updatedAt":"${updated}"`
}

/** A text of two values. Entities that are shown one after the other mostly have the same. */
class LastText {
  readonly #write: (a: string, b: string) => string
  #a = ''
  #b = ''
  #text = ''

  constructor(write: (a: string, b: string) => string) {
    this.#write = write
  }

  text(a: string, b = ''): string {
    if (a !== this.#a || b !== this.#b || this.#text === '') {
      this.#text = this.#write(a, b)
      this.#a = a
      this.#b = b
    }
    return this.#text
  }
}

const kinds = new LastText((type, context) => `","$type":"${type}","$context":${JSON.stringify(context)},"$version":`)
const makers = new LastText((actor) => `","$createdBy":${JSON.stringify(actor)},"createdAt":"`)
