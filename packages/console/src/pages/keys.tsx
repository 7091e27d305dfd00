import { useId, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { useData } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { fromLocalInput } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { State, Value } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { byDomain, nouns, type Page } from '../schema.ts'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Copyable, Head, Labelled, Scroll } from '../ui/basics.tsx'
import { confirm, Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'

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
  const rows = keys.value?.results ?? []
  return (
    <>
      <Head title="API keys" about="Each opens the tenant as far as its scopes reach">
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> New key
          </button>
        )}
      </Head>
      <Failure error={keys.error} onRetry={keys.reload} />
      {!keys.value && !keys.error && <Skeleton rows={4} />}
      {keys.value && rows.length === 0 && <EmptyState icon="key" title="No keys yet" />}
      {rows.length > 0 && (
        <Scroll label="API keys">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Begins with</th>
                <th scope="col">Scopes</th>
                <th scope="col">Status</th>
                <th scope="col">Expires</th>
                <th scope="col">Last used</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((key) => (
                <tr key={key.$id}>
                  <td>
                    <a class="title" href={href(['ApiKey', key.$id])}>
                      {key.name as string}
                    </a>
                  </td>
                  <td>
                    <code>{key.keyPrefix as string}</code>
                  </td>
                  <td>
                    <code>{(key.scopes as string) || '—'}</code>
                  </td>
                  <td>
                    <State value={String(key.status)} />
                  </td>
                  <td>
                    <Value value={key.expiresAt} name="expiresAt" />
                  </td>
                  <td>
                    <Value value={key.lastUsedAt} name="lastUsedAt" />
                  </td>
                  <td class="row-actions">
                    {mayChange(noun) && key.status === 'Active' && (
                      <Act class="danger" onRun={() => revoke(key)}>
                        Revoke
                      </Act>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
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
        <Dialog title="Your new key" onClose={() => setSecret(null)}>
          <p>This is the only time it is shown. Keep it where secrets are kept.</p>
          <Copyable text={secret} label="The new key" />
        </Dialog>
      )}
    </>
  )
}

function NewKey({ onClose, onMade }: { onClose: () => void; onMade: (secret: string) => void }) {
  const id = useId()
  const [name, setName] = useState('')
  const [action, setAction] = useState('read')
  const [areas, setAreas] = useState<readonly string[]>(['all'])
  const [expiresAt, setExpiresAt] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const scopes = areas.map((area) => `${action}:${area}`).join(',')
  const make = () =>
    request<Entity>('POST', '/api-keys', {
      body: { name, scopes, ...(expiresAt && { expiresAt: fromLocalInput(expiresAt) }) },
    }).then((key) => onMade(String(key.secret)), setError)
  const toggle = (area: string) => {
    const rest = areas.filter((one) => one !== area && one !== 'all')
    const next = areas.includes(area) ? rest : [...rest, area]
    setAreas(area === 'all' || next.length === 0 ? ['all'] : next)
  }
  useKeys({ 'mod+s': () => void make() })
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Labelled label="Name" for={`${id}-name`}>
          <input
            id={`${id}-name`}
            required
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
            autocomplete="off"
          />
        </Labelled>
        <Labelled label="May" for={`${id}-action`}>
          <select id={`${id}-action`} value={action} onChange={(event) => setAction(event.currentTarget.value)}>
            <option value="read">read</option>
            <option value="write">read and write</option>
            <option value="admin">read, write and administer</option>
          </select>
        </Labelled>
        <fieldset class="choices">
          <legend>Where</legend>
          {['all', ...byDomain(nouns.value.values()).map(([domain]) => domain)].map((area) => (
            <label key={area}>
              <input type="checkbox" checked={areas.includes(area)} onChange={() => toggle(area)} />
              {area}
            </label>
          ))}
        </fieldset>
        <Labelled label="Expires" for={`${id}-expires`} hint="Leave it empty for a key without an end.">
          <input
            id={`${id}-expires`}
            type="datetime-local"
            value={expiresAt}
            onInput={(event) => setExpiresAt(event.currentTarget.value)}
          />
        </Labelled>
        <p class="hint">
          Scopes: <code>{scopes}</code>
        </p>
        <Failure error={error} />
        <footer>
          <button type="submit" class="primary">
            Create
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
