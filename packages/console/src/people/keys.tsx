import '../../style/pages/people.css'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State, Value } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { byDomain, nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
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

/** The tenant's keys: to create, to see and to revoke. */
export function KeysPage() {
  const noun = nouns.value.get('ApiKey')
  const keys = useData<Page>(
    ['keys', asOf.value],
    (signal) => request('GET', '/api-keys', { query: { limit: 100, asOf: asOf.value }, signal }),
    { types: asOf.value === null ? ['ApiKey'] : [] },
  )
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  useKeys({ n: () => mayChange(noun) && setMaking(true) })
  const revoke = async (key: Entity) => {
    const sure = await confirm(
      `Revoke ${key.name}?`,
      'It stops working at once, and a revoked key cannot be made valid again.',
      'Revoke',
    )
    if (!sure) return
    await request('POST', `/api-keys/${key.$id}/revoke`).then(() => {
      say(`${key.name} is revoked.`)
      keys.reload()
    }, sayError)
  }
  return (
    <>
      <Head title="API keys" about="Each opens the tenant as far as its scopes reach">
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> New key
          </button>
        )}
      </Head>
      <DataTable
        label="API keys"
        data={keys}
        rows={keys.value?.results ?? []}
        keyOf={({ $id }) => $id}
        empty={<EmptyState icon="key" title="No keys yet" />}
        columns={[
          {
            label: 'Name',
            cell: (key) => (
              <a class="title" href={href(['ApiKey', key.$id])}>
                {key.name as string}
              </a>
            ),
          },
          { label: 'Begins with', cell: (key) => <code>{key.keyPrefix as string}</code> },
          { label: 'Scopes', cell: (key) => <code>{(key.scopes as string) || '—'}</code> },
          { label: 'Status', cell: (key) => <State value={String(key.status)} /> },
          { label: 'Expires', cell: (key) => <Value value={key.expiresAt} name="expiresAt" /> },
          { label: 'Last used', cell: (key) => <Value value={key.lastUsedAt} name="lastUsedAt" /> },
        ]}
        actions={(key) =>
          mayChange(noun) &&
          key.status === 'Active' && (
            <Act class="danger" onRun={() => revoke(key)}>
              Revoke
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
          title="Your new key"
          about="This is the only time it is shown. Keep it where secrets are kept."
          label="The new key"
          secret={secret}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  )
}

const ACTIONS = [
  { value: 'read', label: 'read' },
  { value: 'propose', label: 'read and propose' },
  { value: 'write', label: 'read and write' },
  { value: 'admin', label: 'read, write and administer' },
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
    <FormDialog title="New key" submit="Create" onSubmit={make} onClose={onClose}>
      <TextField label="Name" required value={name} onChange={setName} />
      <SelectField label="May" value={action} options={ACTIONS} onChange={setAction} />
      <fieldset class="choices">
        <legend>Where</legend>
        {['all', ...byDomain(nouns.value.values()).map(([domain]) => domain)].map((area) => (
          <label key={area}>
            <input type="checkbox" checked={areas.includes(area)} onChange={() => toggle(area)} />
            {area}
          </label>
        ))}
      </fieldset>
      <TextField
        label="Expires"
        hint="Leave it empty for a key without an end."
        type="datetime-local"
        value={expiresAt}
        onChange={setExpiresAt}
      />
      <p class="hint">
        Scopes: <code>{scopes}</code>
      </p>
    </FormDialog>
  )
}
