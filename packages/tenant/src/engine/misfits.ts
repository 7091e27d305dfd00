import { catalogue, checkDraft, type Issue, type JsonObject, type Noun, type Nouns, sameJson } from '@tildebase/nouns'
import type { Sql } from '../ports.ts'
import { liveEntities } from '../store/entities.ts'
import { ownTypes } from '../store/schema.ts'

/** Entities that the operator's declaration of their type refuses: it was changed after they were stored. */
export interface Misfits {
  readonly type: string
  readonly count: number
  /** What is wrong with the first of them. */
  readonly message: string
}

const PAGE = 100

/** The entities of a tenant that do not fit the operator's types, as far as they are found before it is late. */
export function misfitsIn(sql: Sql, program: Nouns, isLate: () => boolean): readonly Misfits[] {
  const own = new Map(ownTypes(sql))
  return program.all.flatMap((noun) => {
    const fields = declaredFields(noun, own.get(noun.name) ?? {})
    return fields.size > 0 ? (misfitsOf(sql, noun, fields, isLate) ?? []) : []
  })
}

/** The fields that the operator has declared, and the tenant has not declared again. */
function declaredFields({ name, notation }: Noun, own: JsonObject): ReadonlySet<string> {
  const builtIn: JsonObject = Object.hasOwn(catalogue, name) ? catalogue[name as keyof typeof catalogue].notation : {}
  const names = Object.keys(notation).filter(
    (part) => !Object.hasOwn(own, part) && !sameJson(notation[part]!, builtIn[part] ?? null),
  )
  return new Set(names.filter((part) => typeof notation[part] === 'string' && !part.startsWith('$')))
}

function misfitsOf(sql: Sql, noun: Noun, fields: ReadonlySet<string>, isLate: () => boolean): Misfits | null {
  let count = 0
  let first: Issue | null = null
  for (let after = 0; !isLate(); ) {
    const page = liveEntities(sql, noun.name, after, PAGE)
    for (const { data } of page) {
      const { issues } = checkDraft(noun, JSON.parse(data), 0, { dropsComputed: true })
      const issue = issues.find(({ field }) => fields.has(field) && noun.fields[field]?.kind !== 'secret')
      if (!issue) continue
      count++
      first ??= issue
    }
    if (page.length < PAGE) break
    after = page.at(-1)!.ordinal
  }
  return first && { type: noun.name, count, message: `${first.field}: ${first.message}` }
}
