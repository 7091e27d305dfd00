import '../../style/pages/changesets.css'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { asOf, go, href, look, place } from '../place.ts'
import { useData, useSettled } from '../service/cache.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Head, Tabs } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { EmptyState } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, inSentence, labelOf, momentText, numberText } from '../values/format.ts'
import type { Reviewed } from './changeset.ts'
import { PastChangeset } from './past-changeset.tsx'
import { ReviewPage } from './review.tsx'

const STATES = ['Open', 'Approved', 'Rejected', 'Stale'] as const

/** The changesets that wait for a decision, or one of them. */
export function ChangesetsPage() {
  const id = place.value.path[1]
  if (id === undefined) return <Inbox />
  return asOf.value === null ? <ReviewPage id={id} /> : <PastChangeset id={id} />
}

function Inbox() {
  const state = STATES.find((one) => one === place.value.query.get('state')) ?? 'Open'
  const [active, setActive] = useState(0)
  const time = useSettled(asOf.value, 150)
  const found = useData<Page<Reviewed & { $type: string; $context: string; $version: number }>>(
    ['changesets', state, time],
    (signal) => request('GET', '/changesets', { query: { state, limit: 100, asOf: time }, signal }),
    { types: time === null ? ['Changeset'] : [] },
  )
  const rows = found.value?.results ?? []
  useKeys({
    j: () => setActive(Math.min(active + 1, rows.length - 1)),
    k: () => setActive(Math.max(active - 1, 0)),
    Enter: () => rows[active] && go(['changesets', rows[active].$id]),
  })
  return (
    <>
      <Head title={t('Proposals')} about={t('What agents and others propose, for you to decide')}>
        <Tabs
          label={t('State')}
          value={state}
          options={STATES.map((value) => ({ value, label: labelOf(value) }))}
          onChange={(value) => look({ state: value === 'Open' ? null : value })}
        />
      </Head>
      <DataTable
        label={t('Proposals')}
        data={found}
        rows={rows}
        keyOf={({ $id }) => $id}
        active={active}
        empty={
          <EmptyState
            icon="inbox"
            title={state === 'Open' ? t('Nothing waits for you') : t('No proposal is {}', inSentence(state))}
          >
            <p>{t('Changes that agents and colleagues propose appear here, before they take effect.')}</p>
          </EmptyState>
        }
        columns={[
          {
            label: t('Title'),
            cell: ({ $id, title }) => (
              <a class="title" href={href(['changesets', $id])}>
                {title}
              </a>
            ),
          },
          { label: t('State'), cell: (changeset) => <State value={changeset.state} /> },
          { label: t('Changes'), isNumber: true, cell: ({ operationCount }) => numberText(operationCount) },
          {
            label: t('Types'),
            cell: ({ types = [] }) => types.map((type) => labelOf(nouns.value.get(type)?.path ?? type)).join(', '),
          },
          { label: t('Author'), cell: ({ author }) => actorName(author) },
          {
            label: t('Proposed'),
            cell: ({ $createdAt }) => <span title={momentText($createdAt)}>{agoText($createdAt)}</span>,
          },
        ]}
      />
    </>
  )
}
