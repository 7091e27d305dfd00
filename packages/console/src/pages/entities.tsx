import { useEffect, useRef, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { useData, useSettled } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { labelOf, numberText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { lazy } from '../lazy.tsx'
import { everyOne } from '../list/bulk.ts'
import { ListActions } from '../list/list-actions.tsx'
import { asked, boardFields, includesOf, lastList, lookOf, setColumns, setLook } from '../list/look.ts'
import { Nothing } from '../list/nothing.tsx'
import { Pager } from '../list/pager.tsx'
import { type ListPage, loadPage, PAGE, type Question } from '../list/question.ts'
import { Table } from '../list/table.tsx'
import { Toolbar } from '../list/toolbar.tsx'
import { type Noun, singular } from '../noun.ts'
import { CreateDialog } from '../parts/create.tsx'
import { asOf, go, place } from '../place.ts'
import { session } from '../session.ts'
import { Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'

const Board = lazy(async () => (await import('../list/board.tsx')).Board)
const BulkBar = lazy(
  async () => (await import('../list/bulk-bar.tsx')).BulkBar,
  () => null,
)
const ColumnsDialog = lazy(
  async () => (await import('../list/columns-dialog.tsx')).ColumnsDialog,
  () => null,
)
const FilterBuilder = lazy(
  async () => (await import('../list/filter-builder.tsx')).FilterBuilder,
  () => null,
)

/** The entities of a type: to find, sort, group, page through, open, change and create. */
export function EntitiesPage({ noun }: { noun: Noun }) {
  const look = lookOf(noun)
  const { query } = place.value
  const [creating, setCreating] = useState(false)
  useEffect(() => {
    // A command or a link asked for a new one.
    if (query.get('new') === null) return
    setCreating(mayChange(noun) && noun.verbs.create !== undefined)
    setLook({ new: null })
  }, [query])
  const [choosing, setChoosing] = useState(false)
  const [filtering, setFiltering] = useState(Object.keys(look.filter).length > 0)
  // A link or a view that brings conditions shows them.
  useEffect(() => {
    if (Object.keys(look.filter).length > 0) setFiltering(true)
  }, [query.get('filter') === null])
  const [selected, setSelected] = useState<ReadonlyMap<string, Entity>>(new Map())
  const [active, setActive] = useState(0)
  const search = useRef<HTMLInputElement>(null)
  const time = useSettled(asOf.value, 150)
  const filter = asked(look)
  const include = includesOf(noun, look.columns)
  const sort = look.group !== null ? look.group : look.sort
  const question: Question = { noun, filter: useSettledJson(filter), sort, include, time }
  const isBoard = look.layout === 'board'
  const page = useData<ListPage>(
    ['list', noun.name, question.filter, sort, include, time, look.page],
    isBoard ? null : (signal) => loadPage(question, look.page, signal),
    { types: time === null ? [noun.name, ...include.map((name) => targetName(noun, name))] : [] },
  )
  const rows = page.value?.results ?? []
  const questionKey = JSON.stringify([question.filter, sort, time])
  const [seen, setSeen] = useState(questionKey)
  if (seen !== questionKey) {
    setSeen(questionKey)
    setActive(0)
    setSelected(new Map())
  }
  // The row that an entity was opened from is the active one again.
  const [returned, setReturned] = useState(() => lastOf(noun.name))
  useEffect(() => {
    const at = returned === null ? -1 : rows.findIndex(({ $id }) => $id === returned)
    if (at >= 0) setActive(at)
    if (page.value && !page.isPrevious) setReturned(null)
  }, [page.value])
  useEffect(() => {
    const row = returned ?? rows[active]?.$id ?? null
    lastList.value = { session: session.value, type: noun.name, query: Object.fromEntries(query), row }
  }, [query, active, page.value])

  const hasNext = page.value?.hasMore && !page.isPrevious
  const turn = (to: number, row: number) => {
    setActive(row)
    setLook({ page: to === 1 ? null : String(to) })
  }
  const next = () => hasNext && turn(look.page + 1, 0)
  const back = (row = 0) => look.page > 1 && turn(look.page - 1, row)
  const focusRow = (row: number) => {
    setActive(row)
    document.querySelector<HTMLElement>(`tr[data-row="${row}"] .title`)?.focus()
  }
  const select = (entities: readonly Entity[], isSelected: boolean) =>
    setSelected((old) => {
      const all = new Map(old)
      for (const entity of entities) isSelected ? all.set(entity.$id, entity) : all.delete(entity.$id)
      return all
    })
  const clear = () => {
    setFiltering(false)
    setLook({ text: null, filter: null })
  }
  useKeys({
    '/': () => search.current?.focus(),
    j: () => (active < rows.length - 1 ? focusRow(active + 1) : next()),
    k: () => (active > 0 ? focusRow(active - 1) : back(PAGE - 1)),
    ']': next,
    '[': () => back(),
    f: () => setFiltering(!filtering),
    Enter: (event) => {
      // A button or link that has the focus keeps its own Enter.
      if (event.target instanceof HTMLElement && event.target.matches('a, button, summary, input')) event.target.click()
      else if (rows[active]) go([noun.name, rows[active].$id])
    },
    n: () => mayChange(noun) && noun.verbs.create && setCreating(true),
    Escape: () => {
      if (document.activeElement === search.current) search.current?.blur()
      else if (selected.size > 0) setSelected(new Map())
    },
  })
  const groups = boardFields(noun)
  const canCreate = mayChange(noun) && noun.verbs.create !== undefined
  const conditions = Object.keys(look.filter).length
  const isFiltered = conditions > 0 || look.text !== ''
  return (
    <div class="fill">
      <Head
        title={labelOf(noun.path)}
        about={
          page.value && !isBoard
            ? `${numberText(page.value.total)} ${asOf.value ? 'then' : isFiltered ? 'found' : 'in all'}`
            : undefined
        }
      >
        <ListActions noun={noun} filter={filter} onColumns={() => setChoosing(true)} />
        {canCreate && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            <Icon name="plus" /> New {singular(noun)}
          </button>
        )}
      </Head>
      <Toolbar
        noun={noun}
        look={look}
        search={search}
        isFiltering={filtering}
        onFilter={() => setFiltering(!filtering)}
        onColumns={() => setChoosing(true)}
      />
      {filtering && (
        <FilterBuilder
          key={noun.name}
          noun={noun}
          query={look.filter}
          onChange={(made) => setLook({ filter: Object.keys(made).length === 0 ? null : JSON.stringify(made) })}
        />
      )}
      {asOf.value !== null && look.text !== '' && (
        <p class="notice" role="status">
          Full-text search works in the present only. “{look.text}” applies again when you are back.
        </p>
      )}
      {isBoard && <Board question={question} field={look.group ?? groups[0]!} fields={look.columns} />}
      {!isBoard && <Failure error={page.error} onRetry={page.reload} />}
      {!isBoard && !page.value && !page.error && <Skeleton rows={12} />}
      {!isBoard && page.value && rows.length === 0 && (
        <Nothing
          noun={noun}
          isFiltered={isFiltered}
          canCreate={canCreate}
          onClear={clear}
          onCreate={() => setCreating(true)}
        />
      )}
      {!isBoard && page.value && rows.length > 0 && (
        <Table
          noun={noun}
          columns={look.columns}
          page={page.value}
          sort={look.sort}
          group={look.group}
          active={active}
          busy={page.loading}
          selected={selected}
          onSort={(name) =>
            setLook({ sort: look.sort === name ? `-${name}` : look.sort === `-${name}` ? null : name, group: null })
          }
          onActive={setActive}
          onSelect={select}
          onMoveColumn={(name, before) => {
            const rest = look.columns.filter((one) => one !== name)
            rest.splice(rest.indexOf(before), 0, name)
            setColumns(noun, rest)
          }}
        />
      )}
      {!isBoard && page.value && (rows.length > 0 || look.page > 1) && (
        <Pager list={page.value} page={look.page} onBack={() => back()} onNext={next} />
      )}
      {selected.size > 0 && (
        <BulkBar
          noun={noun}
          selected={[...selected.values()]}
          total={page.value?.total ?? 0}
          onAll={() => void everyOne(noun, filter, page.value?.total ?? 0).then((all) => select(all, true))}
          onClear={() => setSelected(new Map())}
        />
      )}
      {choosing && (
        <ColumnsDialog
          noun={noun}
          columns={look.columns}
          onChange={(names) => setColumns(noun, names)}
          onClose={() => setChoosing(false)}
        />
      )}
      {creating && <CreateDialog noun={noun} onClose={() => setCreating(false)} />}
    </div>
  )
}

/** A filter that follows what is typed, once typing pauses. */
function useSettledJson<T>(value: T): T {
  return JSON.parse(useSettled(JSON.stringify(value), 120)) as T
}

function lastOf(type: string): string | null {
  const last = lastList.value
  return last?.session === session.value && last?.type === type ? last.row : null
}

function targetName(noun: Noun, name: string): string {
  const field = noun.fields[name]
  return field?.kind === 'forward' ? field.target : ''
}
