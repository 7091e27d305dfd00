import { useEffect, useRef, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { ask } from '../api.ts'
import { labelOf, numberText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { Empty, Head, Trouble } from '../parts/basics.tsx'
import { ColumnChoice } from '../parts/columns.tsx'
import { CreateDialog } from '../parts/create.tsx'
import { ExportMenu } from '../parts/export.tsx'
import { FilterBuilder } from '../parts/filter-builder.tsx'
import { Grid } from '../parts/grid.tsx'
import { asOf, go, look, place } from '../place.ts'
import { defaultColumns, type Entity, type Json, type Noun, type Page } from '../schema.ts'
import { session } from '../session.ts'
import { turned } from '../turned.ts'
import { useAnswer, useCalm } from '../use.ts'

const PAGE = 25

/** The entities of a type: to find, sort, page through, open, change and create. */
export function EntitiesPage({ noun }: { noun: Noun }) {
  const { query } = place.value
  const filter = parsed(query.get('filter'))
  const text = query.get('text') ?? ''
  const sort = query.get('sort')
  const columns = query.get('columns')?.split(',').filter(Boolean) ?? defaultColumns(noun)
  const [creating, setCreating] = useState(false)
  const [filtering, setFiltering] = useState(Object.keys(filter).length > 0)
  const search = useRef<HTMLInputElement>(null)
  const time = useCalm(asOf.value, 150)
  const asked = JSON.stringify(text === '' ? filter : { ...filter, $text: text })
  const include = columns.filter((name) => noun.fields[name]?.kind === 'forward').join(',')

  // Another question starts at its first page.
  const question = JSON.stringify([noun.name, asked, sort, time])
  const last = turned.value
  const isSame = last?.session === session.value && last?.question === question
  const { cursors, active } = isSame ? last : { cursors: [], active: 0 }
  const turn = (to: readonly string[], row: number) => {
    const look = Object.fromEntries(query)
    turned.value = { session: session.value, type: noun.name, query: look, question, cursors: to, active: row }
  }
  useEffect(() => turn(cursors, active), [question, query])
  const cursor = cursors.at(-1)
  const sheet = `${question} ${cursor}`
  const page = useAnswer<Page & { sheet: string; begin: number }>(
    async (signal) => {
      const query = { filter: asked === '{}' ? null : asked, sort, include, asOf: time, limit: PAGE, cursor }
      const answer = await ask<Page>('GET', `/${noun.name}`, { query, signal })
      return { ...answer, sheet, begin: cursors.length * PAGE }
    },
    [noun.name, asked, sort, include, time, cursor],
  )
  const rows = page.value?.results ?? []
  const next = () => {
    // The way on is in the answer: until that of this page is there, nobody knows it.
    if (page.value?.cursor && page.value.hasMore && page.value.sheet === sheet) turn([...cursors, page.value.cursor], 0)
  }
  const back = (row = 0) => {
    if (cursors.length > 0) turn(cursors.slice(0, -1), row)
  }
  const clear = () => {
    setFiltering(false)
    look({ text: null, filter: null })
  }
  const open = (entity: Entity | undefined) => entity && go([noun.name, entity.$id])
  useKeys({
    '/': () => search.current?.focus(),
    j: () => move(() => (active < rows.length - 1 ? turn(cursors, active + 1) : next())),
    k: () => move(() => (active > 0 ? turn(cursors, active - 1) : back(PAGE - 1))),
    ']': () => move(next),
    '[': () => move(back),
    Enter: (event) => {
      // A button or link that has the focus keeps its own Enter.
      if (event.target instanceof HTMLElement && event.target.matches('a, button, summary')) event.target.click()
      else open(rows[active])
    },
    n: () => mayChange(noun) && setCreating(true),
    Escape: () => (document.activeElement === search.current ? search.current?.blur() : go([])),
  })
  return (
    <>
      <Head
        title={labelOf(noun.path)}
        about={`${labelOf(noun.domain)} · ${page.value ? numberText(page.value.total) : '…'} ${asOf.value ? 'then' : 'now'}`}
      >
        <ExportMenu noun={noun} filter={asked} />
        <ColumnChoice noun={noun} columns={columns} onChange={(names) => look({ columns: names.join(',') || null })} />
        {mayChange(noun) && noun.verbs.create && (
          <button type="button" class="primary" onClick={() => setCreating(true)}>
            New {labelOf(noun.name).toLowerCase()}
          </button>
        )}
      </Head>
      <search class="finder">
        <input
          ref={search}
          type="search"
          aria-label={`Search ${labelOf(noun.path).toLowerCase()}`}
          placeholder={asOf.value ? 'Full text searches the present only' : 'Search every text field'}
          disabled={asOf.value !== null}
          value={text}
          onInput={(event) => look({ text: event.currentTarget.value || null })}
        />
        <kbd>/</kbd>
        <button type="button" aria-expanded={filtering} onClick={() => setFiltering(!filtering)}>
          Filter{Object.keys(filter).length > 0 ? ` · ${Object.keys(filter).length}` : ''}
        </button>
      </search>
      {filtering && (
        <FilterBuilder
          key={noun.name}
          noun={noun}
          query={filter}
          onChange={(made) => look({ filter: Object.keys(made).length === 0 ? null : JSON.stringify(made) })}
        />
      )}
      <Trouble error={page.error} />
      {page.value && rows.length === 0 && (
        <Empty>
          {asked === '{}'
            ? `There are no ${labelOf(noun.path).toLowerCase()} ${asOf.value ? 'at that time' : 'yet'}.`
            : 'Nothing matches. '}
          {asked !== '{}' && (
            <button type="button" onClick={clear}>
              Show all
            </button>
          )}
        </Empty>
      )}
      {rows.length > 0 && (
        <Grid
          noun={noun}
          columns={columns}
          rows={rows}
          sort={sort}
          active={active}
          busy={page.loading}
          onSort={(name) => look({ sort: sort === name ? `-${name}` : sort === `-${name}` ? null : name })}
          onActive={(row) => turn(cursors, row)}
          onOpen={open}
          onChanged={page.reload}
        />
      )}
      {(rows.length > 0 || cursors.length > 0) && (
        <nav class="pager" aria-label="Pages">
          <button type="button" disabled={cursors.length === 0} onClick={() => back()}>
            ← Previous
          </button>
          {page.value && (
            <span aria-live="polite">
              {numberText(page.value.begin + 1)}–{numberText(page.value.begin + rows.length)} of{' '}
              {numberText(page.value.total)}
            </span>
          )}
          <button type="button" disabled={!page.value?.hasMore} onClick={next}>
            Next →
          </button>
        </nav>
      )}
      {creating && <CreateDialog noun={noun} onClose={() => setCreating(false)} onCreated={page.reload} />}
    </>
  )
}

/** Moves within the list. The row is what Enter is about then, and not the button that was pressed last. */
function move(run: () => void): void {
  if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
  run()
}

function parsed(text: string | null): { [field: string]: Json } {
  try {
    const value = JSON.parse(text ?? '{}')
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {}
  } catch {
    return {}
  }
}
