import type { ForwardField } from '@tildebase/nouns'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import type { Entity } from '../values/entity.ts'
import { isRequired, type Noun, targetsOf, titleField } from '../values/noun.ts'
import type { Match } from './match.ts'

const CELLS = 50
const MOST = 100

/** The types that a relation may lead to, people first. */
function targetNouns(field: ForwardField): Noun[] {
  const found = targetsOf(field).flatMap((name) => nouns.value.get(name) ?? [])
  return found.sort((a, b) => Number(b.name === 'User') - Number(a.name === 'User'))
}

/** The type of which missing entities can be created from a name alone, if there is one. */
export function creatable(field: ForwardField): Noun | null {
  return (
    targetNouns(field).find((noun) => {
      const title = titleField(noun)
      const needed = Object.values(noun.fields).filter(isRequired)
      return title !== null && noun.verbs.create !== undefined && needed.every(({ name }) => name === title)
    }) ?? null
  )
}

/** Finds what the cells of a relation name: by id, by name, by e-mail address or by another unique field. */
export async function findMatches(field: ForwardField, cells: readonly string[]): Promise<ReadonlyMap<string, Match>> {
  const wanted = [...new Set(cells)]
  const found = new Map(wanted.map((cell) => [cell, new Set<string>()]))
  for (const noun of targetNouns(field)) {
    const open = wanted.filter((cell) => found.get(cell)!.size === 0)
    const names = keysOf(noun)
    for (let at = 0; at < open.length; at += CELLS) {
      for (const entity of await load(noun, names, open.slice(at, at + CELLS))) {
        for (const name of ['$id', ...names]) {
          const value = entity[name]
          if (typeof value !== 'string') continue
          for (const cell of open) if (cell.toLowerCase() === value.toLowerCase()) found.get(cell)!.add(entity.$id)
        }
      }
    }
  }
  return new Map([...found].map(([cell, ids]) => [cell, { ids: [...ids] }]))
}

/** The fields that an entity may be named by in a file. */
function keysOf(noun: Noun): string[] {
  const title = titleField(noun)
  const unique = Object.values(noun.fields).filter(
    (field) => field.kind === 'string' && !field.list && (field.index === 'unique' || field.name === 'email'),
  )
  return [...new Set([...(title === null ? [] : [title]), ...unique.map(({ name }) => name)])]
}

async function load(noun: Noun, names: readonly string[], cells: readonly string[]): Promise<Entity[]> {
  const ids = cells.filter((cell) => /^[a-z]\w*_\w+$/i.test(cell))
  // Addresses are often written with capitals.
  const words = [...new Set(cells.flatMap((cell) => [cell, cell.toLowerCase()]))]
  const filter = {
    $or: [...(ids.length > 0 ? [{ $id: { $in: ids } }] : []), ...names.map((name) => ({ [name]: { $in: words } }))],
  }
  const entities: Entity[] = []
  for (let cursor: string | null = null; ; ) {
    const page: Page = await request<Page>('GET', `/${noun.name}`, {
      query: { filter, limit: MOST, total: false, fields: names.join(','), cursor: cursor ?? undefined },
    })
    entities.push(...page.results)
    if (!page.hasMore || page.cursor === null) return entities
    cursor = page.cursor
  }
}
