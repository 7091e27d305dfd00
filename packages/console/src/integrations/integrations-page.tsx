import { useState } from 'preact/hooks'
import { State } from '../parts/value.tsx'
import { go, href, place } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { agoText } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'
import { ConnectDialog, SCHEDULES } from './connect-dialog.tsx'
import { IntegrationPage } from './integration-page.tsx'

const TYPE = 'Integration'

/** The services that a tenant reads, or one of them. */
export function IntegrationsPage() {
  const id = place.value.path[1]
  return id === undefined ? <Integrations /> : <IntegrationPage key={id} id={id} />
}

/** The services that a tenant reads: to connect and to run. */
function Integrations() {
  const noun = nouns.value.get(TYPE)
  const [connecting, setConnecting] = useState<Entity | 'new' | null>(null)
  const found = useData<Page>(
    ['integrations'],
    (signal) => request('GET', `/${TYPE}`, { query: { sort: 'name', limit: 100 }, signal }),
    { types: [TYPE] },
  )
  const writes = mayChange(noun)
  const run = async ({ $id }: Entity) => {
    try {
      await write({ path: `/${TYPE}/${$id}/sync`, body: {}, type: TYPE })
      go(['integrations', $id])
    } catch (reason) {
      sayError(reason)
    }
  }
  return (
    <>
      <Head title={t('Connections')} about={t('Other services that are read, with their past')}>
        {writes && (
          <button type="button" class="primary" onClick={() => setConnecting('new')}>
            <Icon name="plus" /> {t('Connect a service')}
          </button>
        )}
      </Head>
      <DataTable
        label={t('Integrations')}
        data={found}
        rows={found.value?.results ?? []}
        keyOf={({ $id }) => $id}
        empty={<EmptyState icon="hook" title={t('No service is connected')} />}
        columns={[
          {
            label: t('Name'),
            cell: ({ $id, name }) => (
              <a class="title" href={href(['integrations', $id])}>
                {String(name)}
              </a>
            ),
          },
          { label: t('Service'), cell: ({ provider, scope }) => [provider, scope].filter(Boolean).join(' · ') || '—' },
          {
            label: t('State'),
            cell: ({ status, error }) => (
              <>
                <State value={error ? 'Failing' : String(status)} values={wordsOf(noun?.fields.status)} />
                {error ? <span class="hint"> {String(error)}</span> : null}
              </>
            ),
          },
          {
            label: t('Runs'),
            cell: ({ schedule }) =>
              SCHEDULES.find(({ value }) => value === (schedule ?? ''))?.label ?? String(schedule),
          },
          {
            label: t('Last run'),
            cell: ({ lastSyncedAt }) => (lastSyncedAt ? agoText(String(lastSyncedAt)) : t('never')),
          },
        ]}
        actions={(one) =>
          writes &&
          (one.status === 'Connected' || one.status === 'Synced' ? (
            <Act onRun={() => run(one)}>{t('Run now')}</Act>
          ) : (
            <button type="button" onClick={() => setConnecting(one)}>
              {t('Connect')}
            </button>
          ))
        }
      />
      {connecting && (
        <ConnectDialog integration={connecting === 'new' ? null : connecting} onClose={() => setConnecting(null)} />
      )}
    </>
  )
}
