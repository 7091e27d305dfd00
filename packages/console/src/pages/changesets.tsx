import { useState } from 'preact/hooks'
import { actorName } from '../actors.ts'
import { useData } from '../cache.ts'
import type { Reviewed } from '../changesets/changeset.ts'
import { ReviewPage } from '../changesets/review.tsx'
import { agoText, labelOf, momentText, numberText } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { go, href, look, place } from '../place.ts'
import { nouns, type Page } from '../schema.ts'
import { request } from '../service.ts'
import { Head, Scroll, Tabs } from '../ui/basics.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'

const STATES = ['Open', 'Approved', 'Rejected', 'Stale'] as const

/** The changesets that wait for a decision, or one of them. */
export function ChangesetsPage() {
  const id = place.value.path[1]
  return id === undefined ? <Inbox /> : <ReviewPage id={id} />
}

function Inbox() {
  const state = STATES.find((one) => one === place.value.query.get('state')) ?? 'Open'
  const [active, setActive] = useState(0)
  const found = useData<Page<Reviewed & { $type: string; $context: string; $version: number }>>(
    ['changesets', state],
    (signal) => request('GET', '/changesets', { query: { state, limit: 100 }, signal }),
    { types: ['Changeset'] },
  )
  const rows = found.value?.results ?? []
  useKeys({
    j: () => setActive(Math.min(active + 1, rows.length - 1)),
    k: () => setActive(Math.max(active - 1, 0)),
    Enter: () => rows[active] && go(['changesets', rows[active].$id]),
  })
  return (
    <>
      <Head title="Changesets" about="What agents and others propose, for you to decide">
        <Tabs
          label="State"
          value={state}
          options={STATES.map((value) => ({ value, label: value }))}
          onChange={(value) => look({ state: value === 'Open' ? null : value })}
        />
      </Head>
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={6} />}
      {found.value && rows.length === 0 && (
        <EmptyState
          icon="inbox"
          title={state === 'Open' ? 'Nothing waits for you' : `No changeset is ${state.toLowerCase()}`}
        >
          <p>
            A key with the scope <code>propose:crm</code> proposes; so does every write with <code>?propose=Title</code>
            .
          </p>
        </EmptyState>
      )}
      {rows.length > 0 && (
        <Scroll label="Changesets">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Title</th>
                <th scope="col">State</th>
                <th scope="col" class="right">
                  Operations
                </th>
                <th scope="col">Types</th>
                <th scope="col">Author</th>
                <th scope="col">Proposed</th>
              </tr>
            </thead>
            <tbody>
              {rows.map((changeset, at) => (
                <tr key={changeset.$id} class={at === active ? 'active' : ''}>
                  <td>
                    <a class="title" href={href(['changesets', changeset.$id])}>
                      {changeset.title}
                    </a>
                  </td>
                  <td>
                    <State value={changeset.state} />
                  </td>
                  <td class="right number">{numberText(changeset.operationCount)}</td>
                  <td>
                    {(changeset.types ?? []).map((type) => labelOf(nouns.value.get(type)?.path ?? type)).join(', ')}
                  </td>
                  <td>{actorName(changeset.author)}</td>
                  <td title={momentText(changeset.$createdAt)}>{agoText(changeset.$createdAt)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </>
  )
}
