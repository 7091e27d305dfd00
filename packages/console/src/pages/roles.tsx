import { useId, useState } from 'preact/hooks'
import { mayAdminister } from '../access.ts'
import { useData } from '../cache.ts'
import { pretty } from '../format.ts'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head, Labelled, Scroll } from '../ui/basics.tsx'
import { confirm, Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'

interface Role {
  readonly name: string
  readonly scopes: string
  readonly filter: object | null
  readonly builtIn: boolean
}

const EMPTY: Role = { name: '', scopes: 'read:all', filter: null, builtIn: false }

/** The roles that people can have: those of the service, and the tenant's own. */
export function RolesPage() {
  const roles = useData<{ results: readonly Role[] }>(['roles'], (signal) =>
    request('GET', '/schema/roles', { signal }),
  )
  const [edited, setEdited] = useState<Role | null>(null)
  const mayEdit = mayAdminister('User')
  const remove = async (role: Role) => {
    const text = 'People who have this role keep its name, and may do nothing until they get another one.'
    if (!(await confirm(`Delete the role ${role.name}?`, text, 'Delete'))) return
    await request('DELETE', `/schema/roles/${role.name}`).then(() => {
      say(`The role ${role.name} is deleted.`)
      roles.reload()
    }, sayError)
  }
  return (
    <>
      <Head title="Roles" about="What people may do; a change takes effect on their next request">
        {mayEdit && (
          <button type="button" class="primary" onClick={() => setEdited(EMPTY)}>
            <Icon name="plus" /> New role
          </button>
        )}
      </Head>
      <Failure error={roles.error} onRetry={roles.reload} />
      {!roles.value && !roles.error && <Skeleton rows={3} />}
      {roles.value && (
        <Scroll label="Roles">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Scopes</th>
                <th scope="col">Only these rows</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {roles.value.results.map((role) => (
                <tr key={role.name}>
                  <td>{role.name}</td>
                  <td>
                    <code>{role.scopes}</code>
                  </td>
                  <td>{role.filter ? <code>{JSON.stringify(role.filter)}</code> : '—'}</td>
                  <td class="row-actions">
                    {mayEdit && !role.builtIn && (
                      <>
                        <button type="button" onClick={() => setEdited(role)}>
                          Edit
                        </button>
                        <Act class="danger" onRun={() => remove(role)}>
                          Delete
                        </Act>
                      </>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {edited && (
        <RoleForm
          role={edited}
          onClose={() => setEdited(null)}
          onSaved={(name) => {
            setEdited(null)
            say(`The role ${name} is saved.`)
            roles.reload()
          }}
        />
      )}
    </>
  )
}

function RoleForm({ role, onClose, onSaved }: { role: Role; onClose: () => void; onSaved: (name: string) => void }) {
  const id = useId()
  const [name, setName] = useState(role.name)
  const [scopes, setScopes] = useState(role.scopes)
  const [filter, setFilter] = useState(role.filter ? pretty(role.filter) : '')
  const [error, setError] = useState<Error | null>(null)
  const save = async () => {
    try {
      const rows = filter.trim() === '' ? {} : JSON.parse(filter)
      await request('PUT', `/schema/roles/${encodeURIComponent(name)}`, { body: { scopes, filter: rows } })
      onSaved(name)
    } catch (reason) {
      setError(reason as Error)
    }
  }
  return (
    <Dialog title={role.name === '' ? 'New role' : `Role ${role.name}`} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        <Labelled label="Name" for={`${id}-name`}>
          <input
            id={`${id}-name`}
            required
            pattern="[A-Z][A-Za-z0-9]{0,39}"
            disabled={role.name !== ''}
            value={name}
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled label="Scopes" for={`${id}-scopes`} hint="Such as read:crm,write:Deal.">
          <input
            id={`${id}-scopes`}
            required
            value={scopes}
            onInput={(event) => setScopes(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled
          label="Only these rows"
          for={`${id}-filter`}
          hint='Filters by type, such as {"Deal": {"owner": "$user.$id"}}. $user.email is the address of the person.'
        >
          <textarea
            id={`${id}-filter`}
            rows={4}
            value={filter}
            onInput={(event) => setFilter(event.currentTarget.value)}
          />
        </Labelled>
        <Failure error={error} />
        <footer>
          <button type="submit" class="primary">
            Save
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
