import { connect, type Fields, type Host, say } from './bridge.ts'
import { button, element, render, textOf } from './elements.ts'

const MOST_COLUMNS = 6

interface Page extends Fields {
  readonly results: readonly Fields[]
  readonly total?: number
  readonly hasMore: boolean
  readonly cursor: string | null
}

/** The page of `search`: the entities as a table, with a button for more of them. */
connect('list', (host, { structuredContent, content = [], isError }, input) => {
  if (isError || !structuredContent) return render(element('p', { class: 'bad' }, content[0]?.text ?? ''))
  show(host, structuredContent as Page, input, [])
})

function show(host: Host, page: Page, input: Fields, earlier: readonly Fields[]): void {
  const rows = [...earlier, ...page.results]
  const columns = columnsOf(rows)
  const type = typeof input.type === 'string' ? input.type : 'Entities'
  const total = page.total ?? rows.length
  const more = async () => {
    const { structuredContent } = await host.call('search', { ...input, cursor: page.cursor })
    if (!structuredContent) throw new Error('The host did not pass on the next page.')
    show(host, structuredContent as Page, input, rows)
    say(`${rows.length} of ${total} are shown.`)
  }
  const head = columns.map((name) => element('th', { scope: 'col' }, name))
  const body = rows.map((row) =>
    element(
      'tr',
      {},
      ...columns.map((name, i) =>
        i === 0 ? element('th', { scope: 'row' }, textOf(row[name])) : element('td', {}, textOf(row[name])),
      ),
    ),
  )
  render(
    element('h1', {}, type),
    rows.length === 0
      ? element('p', {}, 'Nothing was found.')
      : element(
          'div',
          { class: 'wide', tabindex: '0', role: 'region', 'aria-label': type },
          element(
            'table',
            {},
            element('caption', {}, `${rows.length} of ${total}`),
            element('thead', {}, element('tr', {}, ...head)),
            element('tbody', {}, ...body),
          ),
        ),
    page.hasMore && element('div', { class: 'actions' }, button('More', more)),
  )
}

/** The columns of a table: the fields that the first rows have, the name first. */
function columnsOf(rows: readonly Fields[]): string[] {
  const names = new Set(rows.slice(0, 20).flatMap((row) => Object.keys(row).filter((name) => !name.startsWith('$'))))
  const ordered = [...names].sort(
    (a, b) => Number(b === 'name' || b === 'title') - Number(a === 'name' || a === 'title'),
  )
  return ordered.length > 0 ? ordered.slice(0, MOST_COLUMNS) : ['$id']
}
