import { useId, useState } from 'preact/hooks'
import { mayAdminister } from '../access.ts'
import { useData } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import type { Page } from '../schema.ts'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Copyable, Head, Labelled, Scroll } from '../ui/basics.tsx'
import { confirm, Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'

/** The people of the tenant: to invite, to give a role, to suspend. */
export function PeoplePage() {
  const people = useData<Page>(
    ['people', asOf.value],
    (signal) => request('GET', '/User', { query: { limit: 100, asOf: asOf.value }, signal }),
    { types: asOf.value === null ? ['User'] : [] },
  )
  const roles = useRoles()
  const [making, setMaking] = useState(false)
  const [invitation, setInvitation] = useState<string | null>(null)
  const mayEdit = asOf.value === null && mayAdminister('User')
  useKeys({ n: () => mayEdit && setMaking(true) })
  const run = (user: Entity, verb: string) => request<Entity>('POST', `/User/${user.$id}/${verb}`)
  const invite = (user: Entity) =>
    run(user, 'invite').then((invited) => setInvitation(String(invited.invitation)), sayError)
  const suspend = async (user: Entity) => {
    const text = 'All sessions and agents of this person end at once.'
    if (!(await confirm(`Suspend ${user.name}?`, text, 'Suspend'))) return
    await run(user, 'suspend').then(() => say(`${user.name} is suspended.`), sayError)
  }
  const give = (user: Entity, role: string) =>
    request('PUT', `/User/${user.$id}`, { body: { role } }).then(() => say(`${user.name} is ${role} now.`), sayError)
  const rows = people.value?.results ?? []
  return (
    <>
      <Head title="People" about="Who signs in, and what they may do">
        {mayEdit && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> Invite a person
          </button>
        )}
      </Head>
      <Failure error={people.error} onRetry={people.reload} />
      {!people.value && !people.error && <Skeleton rows={4} />}
      {people.value && rows.length === 0 && <EmptyState icon="people" title="No people yet" />}
      {rows.length > 0 && (
        <Scroll label="People">
          <table class="grid">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">E-mail address</th>
                <th scope="col">Role</th>
                <th scope="col">Status</th>
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {rows.map((user) => (
                <tr key={user.$id}>
                  <td>
                    <a class="title" href={href(['User', user.$id])}>
                      {user.name as string}
                    </a>
                  </td>
                  <td>{user.email as string}</td>
                  <td>
                    <select
                      aria-label={`Role of ${user.name}`}
                      disabled={!mayEdit}
                      value={String(user.role ?? '')}
                      onChange={(event) => void give(user, event.currentTarget.value)}
                    >
                      {!user.role && <option value="">none</option>}
                      {roles.map((name) => (
                        <option key={name}>{name}</option>
                      ))}
                    </select>
                  </td>
                  <td>
                    <State value={String(user.status)} />
                  </td>
                  <td class="row-actions">
                    {mayEdit && user.status !== 'Suspended' && (
                      <Act onRun={() => invite(user)}>
                        {user.status === 'Invited' ? 'Invite again' : 'Reset access'}
                      </Act>
                    )}
                    {mayEdit && user.status === 'Active' && (
                      <Act class="danger" onRun={() => suspend(user)}>
                        Suspend
                      </Act>
                    )}
                    {mayEdit && user.status === 'Suspended' && (
                      <Act onRun={() => run(user, 'activate').catch(sayError)}>Activate</Act>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      {making && (
        <NewPerson
          roles={roles}
          onClose={() => setMaking(false)}
          onInvited={(url) => {
            setMaking(false)
            setInvitation(url)
            people.reload()
          }}
        />
      )}
      {invitation !== null && (
        <Dialog title="The invitation" onClose={() => setInvitation(null)}>
          <p>Send this address to the person. It works once, for seven days, and is not shown again.</p>
          <Copyable text={invitation} label="The invitation" />
        </Dialog>
      )}
    </>
  )
}

/** The names of the roles that people can have. */
function useRoles(): readonly string[] {
  const roles = useData<{ results: readonly { name: string }[] }>(['roles'], (signal) =>
    request('GET', '/schema/roles', { signal }),
  )
  return (roles.value?.results ?? []).map(({ name }) => name)
}

function NewPerson(props: { roles: readonly string[]; onClose: () => void; onInvited: (url: string) => void }) {
  const id = useId()
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('Member')
  const [error, setError] = useState<Error | null>(null)
  const make = async () => {
    try {
      const user = await request<Entity>('POST', '/User', { body: { name, email, role } })
      const invited = await request<Entity>('POST', `/User/${user.$id}/invite`)
      props.onInvited(String(invited.invitation))
    } catch (reason) {
      setError(reason as Error)
    }
  }
  return (
    <Dialog title="Invite a person" onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Labelled label="Name" for={`${id}-name`}>
          <input id={`${id}-name`} required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </Labelled>
        <Labelled label="E-mail address" for={`${id}-email`}>
          <input
            id={`${id}-email`}
            type="email"
            required
            value={email}
            onInput={(event) => setEmail(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled label="Role" for={`${id}-role`}>
          <select id={`${id}-role`} value={role} onChange={(event) => setRole(event.currentTarget.value)}>
            {props.roles.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </Labelled>
        <Failure error={error} />
        <footer>
          <button type="submit" class="primary">
            Invite
          </button>
          <button type="button" onClick={props.onClose}>
            Cancel
          </button>
        </footer>
      </form>
    </Dialog>
  )
}
