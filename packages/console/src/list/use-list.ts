import { useLayoutEffect, useState } from 'preact/hooks'
import { asOf, place } from '../place.ts'
import { preferences } from '../preferences.ts'
import { type Data, useData, useSettled } from '../service/cache.ts'
import { session } from '../service/session.ts'
import type { Entity } from '../values/entity.ts'
import { type Noun, targetsOf } from '../values/noun.ts'
import { loadPage } from './load-page.ts'
import { asked, includesOf, isTimed, type Look, lastList, setLook } from './look.ts'
import type { ListPage, Question } from './question.ts'

/** A page of a list: what it asks, the rows it shows, the active and the selected ones, and the pages next to it. */
export interface List {
  readonly question: Question
  readonly page: Data<ListPage>
  readonly rows: readonly Entity[]
  readonly active: number
  setActive(row: number): void
  readonly selected: ReadonlyMap<string, Entity>
  select(entities: readonly Entity[], isSelected: boolean): void
  clearSelection(): void
  next(): void
  back(): void
  /** Moves the focus to the next or previous row, over the edge of a page, too. */
  step(by: 1 | -1): void
}

/** Loads the page of a list that a look asks for. Another question starts at its first row with nothing selected. */
export function useList(noun: Noun, look: Look): List {
  const { query } = place.value
  const time = useSettled(asOf.value, 150)
  const include = includesOf(noun, look.group === null ? look.columns : [...look.columns, look.group])
  // The newest month comes first.
  const sort = look.group === null ? look.sort : isTimed(noun, look.group) ? `-${look.group}` : look.group
  const question: Question = { noun, filter: useSettledJson(asked(noun, look)), sort, include, time }
  const page = useData<ListPage>(
    ['list', noun.name, question.filter, sort, include, time, look.page, preferences.value.pageSize],
    look.layout !== 'table' ? null : (signal) => loadPage(question, look.page, signal),
    { types: time === null ? [noun.name, ...include.flatMap((name) => targetsOf(noun.fields[name]))] : [] },
  )
  const rows = page.value?.results ?? []
  const [active, setActive] = useState(0)
  const [selected, setSelected] = useState<ReadonlyMap<string, Entity>>(new Map())
  const questionKey = JSON.stringify([question.filter, sort, time])
  const [seen, setSeen] = useState(questionKey)
  if (seen !== questionKey) {
    setSeen(questionKey)
    setActive(0)
    setSelected(new Map())
  }
  // The row that an entity was opened from is the active one again.
  const [returned, setReturned] = useState(() => lastOf(noun.name))
  // With the drawing and not after it: the next key is about the row that is active then.
  useLayoutEffect(() => {
    const at = returned === null ? -1 : rows.findIndex(({ $id }) => $id === returned)
    if (at >= 0) setActive(at)
    if (page.value && !page.isPrevious) setReturned(null)
  }, [page.value])
  useLayoutEffect(() => {
    const row = returned ?? rows[active]?.$id ?? null
    lastList.value = { session: session.value, type: noun.name, query: Object.fromEntries(query), row }
  }, [query, active, page.value])

  const turn = (to: number, row: number) => {
    setActive(row)
    setLook({ page: to === 1 ? null : String(to) })
  }
  const next = () => {
    if (page.value?.hasMore && !page.isPrevious) turn(look.page + 1, 0)
  }
  const back = (row = 0) => {
    if (look.page > 1) turn(look.page - 1, row)
  }
  const step = (by: 1 | -1) => {
    const row = active + by
    if (row < 0) return back(preferences.value.pageSize - 1)
    if (row >= rows.length) return next()
    setActive(row)
    document.querySelector<HTMLElement>(`tr[data-row="${row}"] .title`)?.focus()
  }
  const select = (entities: readonly Entity[], isSelected: boolean) =>
    setSelected((old) => {
      const all = new Map(old)
      for (const entity of entities) isSelected ? all.set(entity.$id, entity) : all.delete(entity.$id)
      return all
    })
  const clearSelection = () => setSelected(new Map())
  return {
    question,
    page,
    rows,
    active,
    setActive,
    selected,
    select,
    clearSelection,
    next,
    back: () => back(),
    step,
  }
}

/** A filter that follows what is typed, once typing pauses. */
function useSettledJson<T>(value: T): T {
  return JSON.parse(useSettled(JSON.stringify(value), 120)) as T
}

function lastOf(type: string): string | null {
  const last = lastList.value
  return last?.session === session.value && last?.type === type ? last.row : null
}
