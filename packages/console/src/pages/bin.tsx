import { Problem } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { asOf, href, look, place } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns } from '../service/schema.ts'
import { newCorrelation, sayDone, undo, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Icon } from '../ui/icon.tsx'
import { SearchBox } from '../ui/inputs.tsx'
import { Menu } from '../ui/menu.tsx'
import { EmptyState } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { agoText, hasWords, labelOf, momentText, numberText } from '../values/format.ts'
import { type BinPage as Binned, type Deleted, findInBin, loadBin, nameOf } from './bin-data.ts'

/** What was deleted and not restored, newest first: to find, select and restore, also what was deleted together. */
export function BinPage() {
  const type = place.value.query.get('type') ?? ''
  const [words, setWords] = useState('')
  const [cursors, setCursors] = useState<readonly string[]>([])
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const time = asOf.value
  const cursor = cursors.at(-1) ?? null
  const wanted = useSettled(words.trim(), 250)
  const found = useData<Binned>(
    ['bin', type, time, cursor, wanted],
    (signal) => (wanted === '' ? loadBin(type, time, cursor, signal) : findInBin(type, time, cursor, wanted, signal)),
    { types: time === null ? ['*'] : [] },
  )
  // What is on the page is narrowed at once, the older pages are looked through meanwhile.
  const isLooking = found.isPrevious || wanted !== words.trim()
  const rows = (found.value?.deleted ?? []).filter((one) => hasWords(nameOf(one), words))
  const chosen = rows.filter(({ entityId }) => selected.has(entityId))
  const restore = async (some: readonly Deleted[]) => {
    const correlation = newCorrelation()
    let restored = 0
    try {
      for (const { entityType, entityId } of some) {
        try {
          await write({ path: `/${entityType}/${entityId}/restore`, type: entityType }, correlation)
          restored++
        } catch (reason) {
          // It was restored since the list was read: the others still have to be.
          if (!(reason instanceof Problem && reason.code === 'invalid_transition')) throw reason
        }
      }
    } catch (reason) {
      sayError(reason)
    }
    if (restored > 0)
      sayDone(restored === 1 ? t('{} restored.', nameOf(some[0]!)) : t('{} restored.', restored), correlation)
    setSelected(new Set())
  }
  /** All that was deleted with it, also on other pages; or what is left of it, when a part was restored since. */
  const restoreTogether = async ({ correlation }: Deleted) => {
    if (await undo(correlation!, false)) return
    await restore((found.value?.read ?? []).filter((other) => other.correlation === correlation))
  }
  const mayRestore = ({ entityType }: Deleted) => mayChange(nouns.value.get(entityType))
  const types = [...nouns.value.values()].filter((noun) => may('read', noun))
  const pick = (name: string | null) => {
    setCursors([])
    setSelected(new Set())
    look({ type: name })
  }
  const find = (text: string) => {
    setCursors([])
    setWords(text)
  }
  const toggle = (id: string) =>
    setSelected((old) => (old.has(id) ? new Set([...old].filter((one) => one !== id)) : new Set([...old, id])))
  return (
    <>
      <Head title={t('Bin')} about={t('What was deleted keeps its past and can be restored')}>
        <Menu
          label={type === '' ? t('All types') : labelOf(nouns.value.get(type)?.path ?? type)}
          icon="filter"
          items={[
            { label: t('All types'), chosen: type === '', onSelect: () => pick(null) },
            ...types.map((noun) => ({
              label: labelOf(noun.path),
              chosen: type === noun.name,
              onSelect: () => pick(noun.name),
            })),
          ]}
        />
      </Head>
      <div class="toolbar">
        <SearchBox label={t('Find in the bin')} hint={t('Find by name')} value={words} onChange={find} />
        {rows.some(mayRestore) && (
          <button
            type="button"
            onClick={() =>
              setSelected(chosen.length > 0 ? new Set() : new Set(rows.filter(mayRestore).map((one) => one.entityId)))
            }
          >
            {chosen.length > 0
              ? t('Select none')
              : t('Select all {} shown', numberText(rows.filter(mayRestore).length))}
          </button>
        )}
        {chosen.length > 0 && (
          <Act class="primary" icon="undo" onRun={() => restore(chosen)}>
            {t('Restore {}', numberText(chosen.length))}
          </Act>
        )}
      </div>
      <DataTable
        label={t('Deleted entries')}
        data={found}
        rows={rows}
        keyOf={({ id }) => id}
        empty={
          <EmptyState
            icon="bin"
            title={
              isLooking
                ? t('Searching…')
                : words === ''
                  ? t('The bin is empty')
                  : t('Nothing here is called “{}”', words)
            }
          />
        }
        columns={[
          {
            label: t('Name'),
            cell: (one) => (
              <span class="binned">
                {mayRestore(one) && (
                  <input
                    type="checkbox"
                    aria-label={t('Select {}', nameOf(one))}
                    checked={selected.has(one.entityId)}
                    onChange={() => toggle(one.entityId)}
                  />
                )}
                <a class="title" href={href([one.entityType, one.entityId])}>
                  {nameOf(one)}
                </a>
              </span>
            ),
          },
          { label: t('Type'), cell: ({ entityType }) => labelOf(entityType) },
          { label: t('Deleted by'), cell: ({ actor }) => actorName(actor) },
          {
            label: t('When'),
            cell: ({ timestamp }) => <span title={momentText(timestamp)}>{agoText(timestamp)}</span>,
          },
        ]}
        actions={(one) =>
          mayRestore(one) && (
            <>
              {one.together > 1 && (
                <Act onRun={() => restoreTogether(one)} title={t('Takes back all that was deleted at once with it')}>
                  {t('Restore all deleted together')}
                </Act>
              )}
              <Act icon="undo" onRun={() => restore([one])}>
                {t('Restore')}
              </Act>
            </>
          )
        }
      />
      {(found.value?.cursor || cursors.length > 0) && (
        <nav class="pager" aria-label={t('Pages')}>
          <button type="button" disabled={cursors.length === 0} onClick={() => setCursors(cursors.slice(0, -1))}>
            <Icon name="left" /> {t('Newer')}
          </button>
          <button
            type="button"
            disabled={!found.value?.cursor}
            onClick={() => setCursors([...cursors, found.value!.cursor!])}
          >
            {t('Older')} <Icon name="right" />
          </button>
        </nav>
      )}
    </>
  )
}
