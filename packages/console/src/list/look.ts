import { signal } from '@preact/signals'
import type { Json } from '@tildebase/nouns'
import { asOf, href, look, place } from '../place.ts'
import { personId } from '../service/access.ts'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { session } from '../service/session.ts'
import {
  isWritable,
  type Noun,
  namedLike,
  personFields,
  targetsOf,
  titleField,
  titleRelations,
  wordsOf,
} from '../values/noun.ts'
import { resolved } from './filter/resolve.ts'
import { allColumns, defaultColumns, TITLE } from './table/columns.ts'

type Layout = 'table' | 'board' | 'calendar'

/** How a list is looked at. All of it is in the address. */
export interface Look {
  readonly layout: Layout
  readonly filter: { readonly [field: string]: Json }
  readonly text: string
  readonly sort: string | null
  readonly group: string | null
  readonly columns: readonly string[]
  readonly page: number
  readonly view: string | null
  /** Whether only what belongs to the signed-in person is shown. */
  readonly isMine: boolean
}

const COLUMNS = 'tildebase.columns'

/** The look that the address describes. Columns that are not in it are those that this browser used last. */
export function lookOf(noun: Noun): Look {
  const { query } = place.value
  const known = new Set(allColumns(noun))
  const named = (query.get('columns') ?? remembered(noun) ?? '').split(',').filter((name) => known.has(name))
  return {
    layout: layoutOf(noun, query.get('layout')),
    filter: parsed(query.get('filter')),
    text: query.get('text') ?? '',
    sort: query.get('sort'),
    group: query.get('group'),
    columns: named.length > 0 ? named : defaultColumns(noun),
    page: Math.max(1, Number.parseInt(query.get('page') ?? '1', 10) || 1),
    view: query.get('view'),
    isMine: query.get('mine') !== null && hasMine(noun),
  }
}

function layoutOf(noun: Noun, named: string | null): Layout {
  if (named === 'board' && boardFields(noun).length > 0) return 'board'
  return named === 'calendar' && calendarFields(noun).length > 0 ? 'calendar' : 'table'
}

/** The days and times that a calendar can go by: what is due and what is planned first. */
export function calendarFields(noun: Noun): string[] {
  const names = Object.values(noun.fields)
    .filter((field) => isTimed(noun, field.name) && isWritable(field) && !field.list)
    .map(({ name }) => name)
  const rank = (name: string) => (/^due/i.test(name) ? 0 : /expected|scheduled|start|planned/i.test(name) ? 1 : 2)
  return names.sort((a, b) => rank(a) - rank(b))
}

/** The sort that follows when a field is chosen: first upward, then downward, then none. */
export function nextSort(sort: string | null, name: string): string | null {
  return sort === name ? `-${name}` : sort === `-${name}` ? null : name
}

/** Whether entities of a type can belong to the person who is signed in. */
export function hasMine(noun: Noun): boolean {
  return personId() !== null && personFields(noun).length > 0
}

/** What belongs to the person who is signed in. */
export function mineFilter(noun: Noun): { readonly [field: string]: Json } {
  const me = personId()
  const fields = personFields(noun).map((name) => ({ [name]: me }))
  return fields.length === 1 ? fields[0]! : { $or: fields }
}

/** The enum fields that a board or a grouping can go by, the state first. */
export function boardFields(noun: Noun): string[] {
  const names = Object.values(noun.fields)
    .filter((field) => field.kind === 'enum' && !field.list && wordsOf(field).length > 1)
    .map(({ name }) => name)
  return names.sort((a, b) => Number(b === noun.stateField) - Number(a === noun.stateField))
}

/** The fields that rows can be grouped by: choices, single relations, and times by their months. */
export function groupFields(noun: Noun): string[] {
  const others = Object.values(noun.fields).filter(
    (field) => !field.list && (field.kind === 'forward' || isTimed(noun, field.name)),
  )
  return [...boardFields(noun), ...others.map(({ name }) => name), '$createdAt']
}

/** Whether a field is a day or a time: its groups are months. */
export function isTimed(noun: Noun, name: string): boolean {
  const kind = name === '$createdAt' ? 'datetime' : noun.fields[name]?.kind
  return kind === 'date' || kind === 'datetime'
}

/** The relations that the columns show by name. */
export function includesOf(noun: Noun, columns: readonly string[]): string[] {
  const shown = columns.filter((name) => noun.fields[name]?.kind === 'forward')
  const titles = columns.includes(TITLE) || titleField(noun) === null ? titleRelations(noun) : []
  return [...new Set([...shown, ...titles])].filter((name) =>
    targetsOf(noun.fields[name]).some((target) => may('read', nouns.value.get(target))),
  )
}

/** Changes the look. Anything but the page starts at the first page again. */
export function setLook(patch: { readonly [name: string]: string | null }): void {
  look('page' in patch ? patch : { page: null, ...patch })
}

/** Shows these columns, now and when this browser opens the type again. */
export function setColumns(noun: Noun, columns: readonly string[]): void {
  const isDefault = columns.join() === defaultColumns(noun).join()
  remember(noun, isDefault ? null : columns.join(','))
  look({ columns: isDefault ? null : columns.join(',') })
}

/** The filter with the words of the search box. */
export function asked(noun: Noun, look: Pick<Look, 'filter' | 'text' | 'isMine'>): { readonly [field: string]: Json } {
  const { text } = look
  const own = look.isMine ? [mineFilter(noun)] : []
  const parts = [resolved(look.filter, noun), ...own].filter((part) => Object.keys(part).length > 0)
  const filter = parts.length > 1 ? { $and: parts } : (parts[0] ?? {})
  if (text.trim() === '') return filter
  if (asOf.value === null) return { ...filter, $text: text.trim() }
  // The index of words is about the present: in the past they are looked for in the names.
  const named = namedLike(noun, text)
  return named === null ? filter : { $and: [filter, named] }
}

interface LastList {
  readonly session: unknown
  readonly type: string
  readonly query: { readonly [name: string]: string }
  readonly row: string | null
}

/** The list that was looked at last, and its active row. Its entities lead back to it. */
export const lastList = signal<LastList | null>(null)

/** The address of a type's list, as it was left. */
export function hrefOfList(type: string): string {
  const last = lastList.value
  if (last?.session !== session.value || last?.type !== type) return href([type])
  // The time is that of the page, wherever it has been since.
  const { asOf: _, ...query } = last.query
  return href([type], query)
}

function parsed(text: string | null): { readonly [field: string]: Json } {
  try {
    const value = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}

function remembered(noun: Noun): string | null {
  return all()[keyOf(noun)] ?? null
}

function remember(noun: Noun, columns: string | null): void {
  const { [keyOf(noun)]: _, ...others } = all()
  localStorage.setItem(COLUMNS, JSON.stringify(columns === null ? others : { ...others, [keyOf(noun)]: columns }))
}

function all(): { readonly [key: string]: string } {
  try {
    return JSON.parse(localStorage.getItem(COLUMNS) ?? '{}')
  } catch {
    return {}
  }
}

function keyOf(noun: Noun): string {
  return `${place.value.tenant}/${noun.name}`
}
