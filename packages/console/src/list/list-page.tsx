import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keptDraft, newDraft } from '../drafts.ts'
import { useKeys } from '../keyboard.ts'
import { lazy, lazyWindow } from '../lazy.tsx'
import { CreateDialog } from '../parts/forms/create-later.tsx'
import { Star } from '../parts/star.tsx'
import { asOf, go, place } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { t } from '../texts/text.ts'
import { Head } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { isNarrow } from '../ui/narrow.ts'
import { Failure, Skeleton } from '../ui/states.tsx'
import { labelOf, numberText } from '../values/format.ts'
import { type Noun, singular, titleField } from '../values/noun.ts'
import { ListActions } from './list-actions.tsx'
import { asked, boardFields, calendarFields, lookOf, nextSort, setColumns, setLook } from './look.ts'
import { narrowColumns } from './table/columns.ts'
import { Pager } from './table/pager.tsx'
import { Table } from './table/table.tsx'
import { Toolbar } from './toolbar.tsx'
import { useList } from './use-list.ts'

const Board = lazy(async () => (await import('./board/board.tsx')).Board)
const BulkBar = lazy(
  async () => (await import('./bulk-bar.tsx')).BulkBar,
  () => null,
)
const ColumnsDialog = lazyWindow(async () => (await import('./table/columns-dialog.tsx')).ColumnsDialog)
const Calendar = lazy(async () => (await import('./calendar/calendar.tsx')).Calendar)
const ListChanges = lazy(async () => (await import('../compare/list-changes.tsx')).ListChanges)
const Nothing = lazy(
  async () => (await import('./nothing.tsx')).Nothing,
  () => null,
)
const FilterBuilder = lazy(
  async () => (await import('./filter/filter-builder.tsx')).FilterBuilder,
  () => null,
)

/** The entities of a type: to find, sort, group, page through, open, change and create. */
export function EntitiesPage({ noun }: { noun: Noun }) {
  const look = lookOf(noun)
  const { query } = place.value
  // A form that was open when the page was loaded again is open again.
  const [creating, setCreating] = useState(() => mayChange(noun) && keptDraft(newDraft(noun)) !== null)
  // With the drawing: letters that follow belong to the form, and are not shortcuts.
  useLayoutEffect(() => {
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
  const search = useRef<HTMLInputElement>(null)
  const list = useList(noun, look)
  const { page, rows, active, selected } = list
  const filter = asked(noun, look)
  const isBoard = look.layout === 'board'
  const isTable = look.layout === 'table'
  const days = calendarFields(noun)
  const columns = isNarrow.value ? narrowColumns(noun, look.columns) : look.columns
  const clear = () => {
    setFiltering(false)
    setLook({ text: null, filter: null, mine: null })
  }
  useKeys({
    '/': () => search.current?.focus(),
    j: () => list.step(1),
    k: () => list.step(-1),
    ']': list.next,
    '[': list.back,
    f: () => setFiltering(!filtering),
    Enter: (event) => {
      // A button or link that has the focus keeps its own Enter.
      if (event.target instanceof HTMLElement && event.target.matches('a, button, summary, input')) event.target.click()
      else if (rows[active]) go([noun.name, rows[active].$id])
    },
    n: () => mayChange(noun) && noun.verbs.create && setCreating(true),
    Escape: () => {
      if (document.activeElement === search.current) search.current?.blur()
      else if (selected.size > 0) list.clearSelection()
    },
  })
  const groups = boardFields(noun)
  const canCreate = mayChange(noun) && noun.verbs.create !== undefined
  const conditions = Object.keys(look.filter).length
  const isFiltered = conditions > 0 || look.text !== '' || look.isMine
  return (
    <div class="fill">
      <Head
        title={labelOf(noun.path)}
        type={noun.name}
        about={page.value && isTable ? foundText(page.value.total, isFiltered) : undefined}
      >
        <Star label={labelOf(noun.path)} />
        <ListActions
          noun={noun}
          filter={filter}
          total={page.value?.total ?? null}
          onColumns={() => setChoosing(true)}
        />
        {canCreate && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            <Icon name="plus" /> <span class="button-label">{t('New {}', singular(noun))}</span>
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
          {titleField(noun) === null
            ? t('Full-text search works in the present only. “{}” applies again when you are back.', look.text)
            : t('In the past a search looks at names, and not at other words.')}
        </p>
      )}
      {asOf.value !== null && query.get('compare') !== null && (
        <ListChanges question={list.question} time={asOf.value} />
      )}
      {isBoard && (
        <Board
          question={{ ...list.question, sort: look.sort }}
          field={look.group !== null && groups.includes(look.group) ? look.group : groups[0]!}
          fields={look.columns}
        />
      )}
      {look.layout === 'calendar' && (
        <Calendar
          question={list.question}
          field={look.group !== null && days.includes(look.group) ? look.group : days[0]!}
        />
      )}
      {isTable && <Failure error={page.error} onRetry={page.reload} />}
      {isTable && !page.value && !page.error && <Skeleton rows={12} />}
      {isTable && page.value && rows.length === 0 && (
        <Nothing
          noun={noun}
          isFiltered={isFiltered}
          canCreate={canCreate}
          onClear={clear}
          onCreate={() => setCreating(true)}
        />
      )}
      {isTable && page.value && rows.length > 0 && (
        <Table
          noun={noun}
          columns={columns}
          below={look.columns.filter((name) => !columns.includes(name))}
          question={list.question}
          page={page.value}
          sort={look.sort}
          group={look.group}
          active={active}
          busy={page.loading}
          selected={selected}
          onSort={(name) => setLook({ sort: nextSort(look.sort, name), group: null })}
          onActive={list.setActive}
          onSelect={list.select}
          onMoveColumn={(name, before) => {
            const rest = look.columns.filter((one) => one !== name)
            rest.splice(rest.indexOf(before), 0, name)
            setColumns(noun, rest)
          }}
        />
      )}
      {isTable && page.value && (rows.length > 0 || look.page > 1) && (
        <Pager list={page.value} page={look.page} onBack={list.back} onNext={list.next} />
      )}
      {selected.size > 0 && (
        <BulkBar
          noun={noun}
          selected={[...selected.values()]}
          filter={filter}
          total={page.value?.total ?? 0}
          onAll={(all) => list.select(all, true)}
          onClear={list.clearSelection}
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

/** How many there are, in a few words. */
function foundText(total: number, isFiltered: boolean): string {
  const count = numberText(total)
  if (asOf.value !== null) return t('{} then', count)
  return isFiltered ? t('{} found', count) : t('{} in all', count)
}
