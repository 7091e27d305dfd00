import '../../style/pages/tools.css'
import type { JsonObject } from '@tildebase/nouns'
import { HIDDEN_TYPES } from '../parts/frame/side.tsx'
import { asOf, href, place } from '../place.ts'
import { mayDeclare } from '../service/access.ts'
import { useData, useSettled } from '../service/cache.ts'
import { useCounts } from '../service/counts.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { TypeIcon } from '../ui/type-icon.tsx'
import { labelOf, numberText } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { BuiltInFields } from './built-in-fields.tsx'
import { TypeEditor } from './type-editor.tsx'
import { TypeHooks } from './type-hooks.tsx'

const NEW = 'new'

/** The types of the tenant: its own to declare and change, and the hooks of all. */
export function TypesPage() {
  const name = place.value.path[1]
  if (name === undefined) return <TypeList />
  const noun = nouns.value.get(name)
  if (!noun && name !== NEW) return <EmptyState icon="shape" title={t('There is no type {}.', name)} />
  return <TypePage key={name} noun={noun ?? null} />
}

/** Types that the service itself depends on. */
const FIXED = new Set(['ApiKey', 'Webhook', 'Event', 'Changeset'])

function TypePage({ noun }: { noun: Noun | null }) {
  const declared = useData<{ own: JsonObject }>(
    ['type', noun?.name, noun?.notation],
    noun ? (signal) => request('GET', `/schema/${noun.name}`, { signal }) : null,
  )
  const isOwn = !noun || noun.domain === 'custom'
  const canWrite = canDeclare()
  return (
    <>
      <p class="crumbs">
        <a href={href(['types'])}>
          <Icon name="left" /> {t('Types')}
        </a>
      </p>
      <Head
        title={noun ? labelOf(noun.name) : t('New type')}
        about={noun ? (isOwn ? t('A type of your own') : t('A built-in type')) : undefined}
      >
        {noun && (
          <a class="button" href={href([noun.name])}>
            <Icon name="table" /> {t('Open the list')}
          </a>
        )}
      </Head>
      <Failure error={declared.error} onRetry={declared.reload} />
      {!noun && <TypeEditor noun={null} own={{}} isBuiltIn={false} canWrite={canWrite} />}
      {noun && declared.value && !FIXED.has(noun.name) && (
        <TypeEditor noun={noun} own={declared.value.own} isBuiltIn={!isOwn} canWrite={canWrite} />
      )}
      {noun && !isOwn && <BuiltInFields noun={noun} canWrite={canWrite && !FIXED.has(noun.name)} />}
      {noun && mayDeclare() && <TypeHooks noun={noun} canWrite={canWrite} />}
    </>
  )
}

/** Whether types can be changed: the key allows it, and the page shows the present. */
function canDeclare(): boolean {
  return asOf.value === null && mayDeclare()
}

function TypeList() {
  const all = [...nouns.value.values()].filter(({ name }) => !HIDDEN_TYPES.has(name))
  const own = all.filter(({ domain }) => domain === 'custom')
  const time = useSettled(asOf.value, 200)
  const counts = useCounts(all, time)
  return (
    <>
      <Head title={t('Types')} about={t('What can be stored here, and the code that runs with it')}>
        {canDeclare() && (
          <a class="button primary" href={href(['types', NEW])}>
            <Icon name="plus" /> {t('New type')}
          </a>
        )}
      </Head>
      {asOf.value !== null && (
        <p class="notice" role="status">
          {t('Types are shown as they are now, and their entries are counted as of then.')}
        </p>
      )}
      {own.length === 0 && canDeclare() && (
        <p class="notice">
          {t(
            'You have no types of your own yet. Make one for what is special in your business, or add fields to a built-in type below.',
          )}
        </p>
      )}
      <DataTable
        label={t('Types')}
        data={{ value: true, error: null, reload: () => undefined }}
        rows={[...own, ...all.filter((noun) => !own.includes(noun))]}
        keyOf={({ name }) => name}
        empty={null}
        columns={[
          {
            label: t('Type'),
            cell: ({ name }) => (
              <a class="title with-icon" href={href(['types', name])}>
                <TypeIcon type={name} />
                {labelOf(name)}
              </a>
            ),
          },
          { label: t('Area'), cell: ({ domain }) => labelOf(domain) },
          { label: t('Fields'), isNumber: true, cell: ({ fields }) => Object.keys(fields).length },
          { label: t('Actions'), isNumber: true, cell: ({ verbs }) => Object.keys(verbs).length },
          {
            label: t('Entries'),
            isNumber: true,
            cell: ({ name }) => (counts.value ? numberText(counts.value.get(name) ?? 0) : '…'),
          },
        ]}
      />
    </>
  )
}
