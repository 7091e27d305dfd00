import { useId, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { ask } from '../api.ts'
import { fromLocalInput } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import { Act, Copyable, Dialog, Empty, Head, Labelled, Scroll, Trouble } from '../parts/basics.tsx'
import { say, sayError } from '../parts/notes.tsx'
import { State, Value } from '../parts/value.tsx'
import { asOf, go, href } from '../place.ts'
import { byDomain, type Entity, nouns, type Page } from '../schema.ts'
import { useAnswer } from '../use.ts'

/** The tenant's keys: to make, to see and to revoke. */
export function KeysPage() {
  const noun = nouns.value.get('ApiKey')
  const keys = useAnswer<Page>(
    (signal) => ask('GET', '/api-keys', { query: { limit: 100, asOf: asOf.value }, signal }),
    [asOf.value],
  )
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<string | null>(null)
  useKeys({ Escape: () => go([]), n: () => mayChange(noun) && setMaking(true) })
  const revoke = (key: Entity) =>
    ask('POST', `/api-keys/${key.$id}/revoke`).then(() => {
      say(`${key.name} is revoked. It opens nothing from now on.`)
      keys.reload()
    }, sayError)
  const rows = keys.value?.results ?? []
  return (
    <>
      <Head title="API keys" about="Each opens the tenant as far as its scopes go">
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New key
          </button>
        )}
      </Head>
      <Trouble error={keys.error} />
      {keys.value && rows.length === 0 && <Empty>There are no keys yet.</Empty>}
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
                    <State value={String(key.status)} values={['Active', 'Revoked', 'Expired']} />
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
    ask<Entity>('POST', '/api-keys', {
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
        <Trouble error={error} />
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
