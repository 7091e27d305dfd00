import { useState } from 'preact/hooks'
import { type LoggedEvent, loadEvents } from '../events/event-log.ts'
import { asOf, href, look, place } from '../place.ts'
import { may, mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { nouns, titleOf } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Icon } from '../ui/icon.tsx'
import { Menu } from '../ui/menu.tsx'
import { EmptyState } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, labelOf, momentText } from '../values/format.ts'

const STEP = 50

interface BinPage {
  readonly deleted: readonly LoggedEvent[]
  readonly cursor: string | null
}

/** What was deleted and not restored, newest first. */
export function BinPage() {
  const type = place.value.query.get('type') ?? ''
  const [cursors, setCursors] = useState<readonly string[]>([])
  const time = asOf.value
  const cursor = cursors.at(-1) ?? null
  const found = useData<BinPage>(['bin', type, time, cursor], (signal) => loadBin(type, time, cursor, signal), {
    types: time === null ? ['*'] : [],
  })
  const restore = async (event: LoggedEvent) => {
    try {
      const path = `/${event.entityType}/${event.entityId}/restore`
      const { correlation } = await write({ path, type: event.entityType })
      sayDone(`${nameOf(event)} restored.`, correlation)
    } catch (reason) {
      sayError(reason)
    }
  }
  const types = [...nouns.value.values()].filter((noun) => may('read', noun))
  const pick = (name: string | null) => {
    setCursors([])
    look({ type: name })
  }
  return (
    <>
      <Head title="Bin" about="What was deleted keeps its past and can be restored">
        <Menu
          label={type === '' ? 'All types' : labelOf(nouns.value.get(type)?.path ?? type)}
          icon="filter"
          items={[
            { label: 'All types', checked: type === '', onSelect: () => pick(null) },
            ...types.map((noun) => ({
              label: labelOf(noun.path),
              checked: type === noun.name,
              onSelect: () => pick(noun.name),
            })),
          ]}
        />
      </Head>
      <DataTable
        label="Deleted entities"
        data={found}
        rows={found.value?.deleted ?? []}
        keyOf={({ id }) => id}
        empty={<EmptyState icon="bin" title="The bin is empty" />}
        columns={[
          {
            label: 'Name',
            cell: (event) => (
              <a class="title" href={href([event.entityType, event.entityId])}>
                {nameOf(event)}
              </a>
            ),
          },
          { label: 'Type', cell: (event) => labelOf(event.entityType) },
          { label: 'Deleted by', cell: (event) => actorName(event.actor) },
          {
            label: 'When',
            cell: ({ timestamp }) => <span title={momentText(timestamp)}>{agoText(timestamp)}</span>,
          },
        ]}
        actions={(event) =>
          mayChange(nouns.value.get(event.entityType)) && (
            <Act icon="undo" onRun={() => restore(event)}>
              Restore
            </Act>
          )
        }
      />
      {(found.value?.cursor || cursors.length > 0) && (
        <nav class="pager" aria-label="Pages">
          <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            <Icon name="left" /> Newer
          </button>
          <button
            type="button"
            disabled={!found.value?.cursor}
            onClick={() => setCursors([...cursors, found.value!.cursor!])}
          >
            Older <Icon name="right" />
          </button>
        </nav>
      )}
    </>
  )
}

function nameOf(event: LoggedEvent): string {
  return titleOf(event.data, nouns.value.get(event.entityType)) || labelOf(event.entityType)
}

/** A page of deletions, without what exists again at that time. */
async function loadBin(
  type: string,
  time: string | null,
  cursor: string | null,
  signal: AbortSignal,
): Promise<BinPage> {
  const pattern = `${type === '' ? '*' : type}.deleted`
  const { events, cursor: next } = await loadEvents({ pattern, words: '', time, cursor, limit: STEP }, signal)
  const newest = [...new Map([...events].reverse().map((event) => [event.entityId, event])).values()].reverse()
  const known = newest.filter(
    (event) => nouns.value.has(event.entityType) && may('read', nouns.value.get(event.entityType)),
  )
  if (known.length === 0) return { deleted: [], cursor: next }
  const operations = known.map(({ id, entityType, entityId }) => ({
    id,
    method: 'GET',
    path: `/${entityType}/${entityId}`,
    query: { fields: '$id', ...(time && { asOf: time }) },
  }))
  const { results } = await request<{ results: { id: string; status: number }[] }>('POST', '/batch', {
    body: { operations },
    signal,
  })
  const gone = new Set(results.filter(({ status }) => status === 404).map(({ id }) => id))
  return { deleted: known.filter(({ id }) => gone.has(id)), cursor: next }
}
