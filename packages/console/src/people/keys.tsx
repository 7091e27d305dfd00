import '../../style/pages/people.css'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State, Value } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { allOf } from '../service/pages.ts'
import { byDomain, nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { confirm } from '../ui/dialog.tsx'
import { FormDialog, SecretDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { SelectField, TextField } from '../ui/inputs.tsx'
import { EmptyState } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { fromLocalInput } from '../values/format.ts'
import { areaLabel } from './role-rights.ts'

/** The tenant's keys: to create, to see and to revoke. */
export function KeysPage() {
  const noun = nouns.value.get('ApiKey')
  const keys = useData<readonly Entity[]>(
    ['keys', asOf.value],
    (signal) => allOf('api-keys', { asOf: asOf.value ?? undefined }, signal),
    { types: asOf.value === null ? ['ApiKey'] : [] },
  )
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  useKeys({ n: () => mayChange(noun) && setMaking(true) })
  const revoke = async (key: Entity) => {
    const sure = await confirm(
      t('Revoke {}?', key.name),
      t('It stops working at once, and a revoked key cannot be made valid again.'),
      t('Revoke'),
    )
    if (!sure) return
    await request('POST', `/api-keys/${key.$id}/revoke`).then(() => {
      say(t('{} is revoked.', key.name))
      keys.reload()
    }, sayError)
  }
  return (
    <>
      <Head title={t('API keys')} about={t('Each opens the tenant as far as its scopes reach')}>
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> {t('New key')}
          </button>
        )}
      </Head>
      <DataTable
        label={t('API keys')}
        data={keys}
        rows={keys.value ?? []}
        keyOf={({ $id }) => $id}
        empty={<EmptyState icon="key" title={t('No keys yet')} />}
        columns={[
          {
            label: t('Name'),
            cell: (key) => (
              <a class="title" href={href(['ApiKey', key.$id])}>
                {key.name as string}
              </a>
            ),
          },
          { label: t('Begins with'), cell: (key) => <code>{key.keyPrefix as string}</code> },
          { label: t('Scopes'), cell: (key) => (key.scopes ? <code>{key.scopes as string}</code> : '') },
          { label: t('Status'), cell: (key) => <State value={String(key.status)} /> },
          { label: t('Expires'), cell: (key) => <Value value={key.expiresAt} name="expiresAt" /> },
          { label: t('Last used'), cell: (key) => <Value value={key.lastUsedAt} name="lastUsedAt" /> },
        ]}
        actions={(key) =>
          mayChange(noun) &&
          key.status === 'Active' && (
            <Act class="danger" onRun={() => revoke(key)}>
              {t('Revoke')}
            </Act>
          )
        }
      />
      {making && (
        <NewKey
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setSecret(made)
            keys.reload()
          }}
        />
      )}
      {secret !== null && (
        <SecretDialog
          title={t('Your new key')}
          about={t('This is the only time it is shown. Keep it where secrets are kept.')}
          label={t('The new key')}
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  )
}

const ACTIONS = [
  { value: 'read', label: t('read') },
  { value: 'propose', label: t('read and propose') },
  { value: 'write', label: t('read and write') },
  { value: 'admin', label: t('read, write and administer') },
]

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (secret: string) => void }) {
  const [name, setName] = useState('')
  const [action, setAction] = useState('read')
  const [areas, setAreas] = useState<readonly string[]>(['all'])
  const [expiresAt, setExpiresAt] = useState('')
  const scopes = areas.map((area) => `${action}:${area}`).join(',')
  const make = () =>
    request<Entity>('POST', '/api-keys', {
      body: { name, scopes, ...(expiresAt && { expiresAt: fromLocalInput(expiresAt) }) },
    }).then((key) => onMade(String(key.secret)))
  const toggle = (area: string) => {
    const rest = areas.filter((one) => one !== area && one !== 'all')
    const next = areas.includes(area) ? rest : [...rest, area]
    setAreas(area === 'all' || next.length === 0 ? ['all'] : next)
  }
  return (
    <FormDialog title={t('New key')} submit={t('Create')} onSubmit={make} onClose={onClose}>
      <TextField label={t('Name')} field="name" required value={name} onChange={setName} />
      <SelectField label={t('May')} value={action} options={ACTIONS} onChange={setAction} />
      <fieldset class="choices">
        <legend>{t('Where')}</legend>
        {['all', ...byDomain(nouns.value.values()).map(([domain]) => domain)].map((area) => (
          <label key={area}>
            <input type="checkbox" checked={areas.includes(area)} onChange={() => toggle(area)} />
            {areaLabel(area)}
          </label>
        ))}
      </fieldset>
      <TextField
        label={t('Expires')}
        hint={t('Leave it empty for a key without an end.')}
        type="datetime-local"
        value={expiresAt}
        onChange={setExpiresAt}
      />
      <p class="hint">
        {t('Scopes:')} <code>{scopes}</code>
      </p>
    </FormDialog>
  )
}
