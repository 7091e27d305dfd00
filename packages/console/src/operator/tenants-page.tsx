import { type ListedTenant, type OperatorEntry, operator } from '@tildebase/client/operator'
import { useState } from 'preact/hooks'
import { saveFile } from '../list/export/save-file.ts'
import { Tasks } from '../parts/frame/tasks.tsx'
import { type Data, useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
import { session } from '../service/session.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { NameDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { SearchBox } from '../ui/inputs.tsx'
import { EmptyState, Failure } from '../ui/states.tsx'
import { percentText } from '../values/figures.ts'
import { agoText, bytesText, labelOf, momentText, numberText } from '../values/format.ts'

/** The most that are read, and the most that are drawn. */
const MOST_TENANTS = 10_000
const SHOWN = 200
const EVERY_MS = 10_000
/** Actions of the operator that are read, to find the last backups, and that are shown. */
const MOST_ACTIONS = 1_000
const SHOWN_ACTIONS = 20

interface Tenant extends ListedTenant {
  readonly limit?: number
  readonly warning?: 'near_quota' | 'over_quota'
}

/** All tenants of the service, for the operator: their sizes, limits and activity, backups, and what was done last. */
export function TenantsPage() {
  const mine = session.value
  const [creating, setCreating] = useState(false)
  const [words, setWords] = useState('')
  const service = operator({ rootKey: mine?.key ?? '', baseUrl: location.origin })
  const found = useData<Page<Tenant>>(
    ['tenants', Math.floor(Date.now() / EVERY_MS)],
    () => service.request('GET', '/operator/tenants', { query: { limit: MOST_TENANTS } }) as Promise<Page<Tenant>>,
  )
  const log = useData<Page<OperatorEntry>>(
    ['operator log', Math.floor(Date.now() / EVERY_MS)],
    () => service.request('GET', '/operator/log', { query: { limit: MOST_ACTIONS } }) as Promise<Page<OperatorEntry>>,
  )
  const backups = lastBackups(log.value?.results ?? [])
  const tenants = (found.value?.results ?? []).filter(({ tenant }) => tenant.includes(words.trim().toLowerCase()))
  const backUp = async (tenant: string) => {
    try {
      saveFile(
        await (await service.tenants.backup(tenant)).blob(),
        `${tenant}-${new Date().toISOString().slice(0, 10)}.sqlite`,
      )
      say(t('The backup of ~{} is saved.', tenant))
      log.reload()
    } catch (reason) {
      sayError(reason)
    }
  }
  return (
    <>
      <Head title={t('Tenants')} about={found.value ? t('{} in all', numberText(found.value.total)) : undefined}>
        <button type="button" class="primary" onClick={() => setCreating(true)}>
          <Icon name="plus" /> {t('New tenant')}
        </button>
      </Head>
      <Tasks of={mine} isAll />
      <div class="toolbar">
        <SearchBox label={t('Find a tenant')} value={words} onChange={setWords} />
      </div>
      <DataTable
        label={t('Tenants')}
        data={found}
        rows={tenants.slice(0, SHOWN)}
        keyOf={({ tenant }) => tenant}
        empty={<EmptyState icon="grid" title={t('There is no tenant of this name')} />}
        columns={[
          {
            label: t('Name'),
            cell: ({ tenant }) => (
              <a class="title" href={`#/~${tenant}`}>
                {tenant}
              </a>
            ),
          },
          { label: t('Size'), cell: ({ bytes }) => (bytes === undefined ? '—' : bytesText(bytes)) },
          { label: t('Limit'), cell: (one) => <Limit tenant={one} /> },
          {
            label: t('Last change'),
            cell: ({ updatedAt }) =>
              updatedAt ? <span title={momentText(updatedAt)}>{agoText(updatedAt)}</span> : t('never'),
          },
          {
            label: t('Last backup'),
            cell: ({ tenant }) => <LastBackup entry={backups.get(tenant)} isKnown={log.value !== null} />,
          },
          { label: t('State'), cell: (one) => <TenantState tenant={one} /> },
        ]}
        actions={({ tenant }) => (
          <>
            <Act
              onRun={() =>
                service.tenants
                  .verify(tenant)
                  .then(
                    ({ ok, events, faults }) =>
                      say(
                        ok
                          ? t('~{} is whole: {} events.', tenant, numberText(events))
                          : t('~{} has {} faults.', tenant, numberText(faults.length)),
                        { tone: ok ? 'good' : 'bad' },
                      ),
                    sayError,
                  )
              }
            >
              {t('Verify')}
            </Act>
            <Act icon="download" onRun={() => backUp(tenant)}>
              {t('Backup')}
            </Act>
          </>
        )}
      />
      {tenants.length > SHOWN && (
        <p class="hint below-table">{t('{} more. Find one by its name.', numberText(tenants.length - SHOWN))}</p>
      )}
      <p class="hint below-table">{t('The service knows when a backup was read, and not where it was saved.')}</p>
      <Journal log={log} />
      {creating && (
        <NameDialog
          title={t('New tenant')}
          submit={t('Create')}
          onName={async (name) => {
            const tenant = slugOf(name)
            await service.tenants.create(tenant)
            say(t('~{} is there.', tenant))
            found.reload()
            setCreating(false)
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </>
  )
}

function Limit({ tenant: { limit, bytes } }: { tenant: Tenant }) {
  if (limit === undefined) return <span class="hint">{t('none')}</span>
  return (
    <span>
      {bytesText(limit)}
      {bytes !== undefined && <span class="hint"> · {percentText(bytes / limit)}</span>}
    </span>
  )
}

function TenantState({ tenant: { restoring, quarantined, warning } }: { tenant: Tenant }) {
  if (quarantined) return <span class="state tone-bad">{t('Quarantined')}</span>
  if (restoring) return <span class="state tone-busy">{t('Being restored')}</span>
  if (warning) return <span class={`state tone-${warning === 'over_quota' ? 'bad' : 'wait'}`}>{labelOf(warning)}</span>
  return <span class="state tone-good">{t('Open')}</span>
}

/** The newest backup of each tenant, as far back as the log was read. */
function lastBackups(entries: readonly OperatorEntry[]): ReadonlyMap<string, OperatorEntry> {
  const found = new Map<string, OperatorEntry>()
  for (const entry of entries) {
    const { action, tenant = '' } = entry
    if (action === 'backup' && !found.has(tenant)) found.set(tenant, entry)
  }
  return found
}

function LastBackup({ entry, isKnown }: { entry: OperatorEntry | undefined; isKnown: boolean }) {
  if (entry === undefined) return <span class="hint">{isKnown ? t('never') : '…'}</span>
  const kind = entry.form === 'log' ? t('as a log') : t('as a file')
  return (
    <span title={momentText(entry.at)}>
      {entry.failed === true && <span class="state tone-bad">{t('Failed')}</span>} {agoText(entry.at)}
      <span class="hint"> · {kind}</span>
    </span>
  )
}

/** What the operator did last. */
function Journal({ log: found }: { log: Data<Page<OperatorEntry>> }) {
  return (
    <section class="panel" aria-labelledby="journal-title">
      <h2 id="journal-title">{t('Done by the operator')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {found.value && found.value.results.length === 0 && <p class="hint">{t('Nothing yet.')}</p>}
      <ul class="lines">
        {(found.value?.results ?? []).slice(0, SHOWN_ACTIONS).map((entry, at) => (
          <li key={`${entry.at} ${at}`}>
            <span>
              {labelOf(entry.action)} {entry.tenant && <b>~{entry.tenant}</b>}
            </span>
            <span class="hint">{agoText(entry.at)}</span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The name of a tenant as its address has it: `Acme Corp` is `acme-corp`. */
function slugOf(name: string): string {
  return name
    .trim()
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
}
