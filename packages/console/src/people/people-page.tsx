import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { mayAdminister } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import type { Page } from '../service/schema.ts'
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
  return (
    <>
      <Head title="People" about="Who signs in, and what they may do">
        {mayEdit && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> Invite a person
          </button>
        )}
      </Head>
      <DataTable
        label="People"
        data={people}
        rows={people.value?.results ?? []}
        keyOf={({ $id }) => $id}
        empty={
          <EmptyState
            icon="people"
            title={asOf.value === null ? 'No people yet' : 'There were no people at that time.'}
          />
        }
        columns={[
          {
            label: 'Name',
            cell: (user) => (
              <a class="title" href={href(['User', user.$id])}>
                {user.name as string}
              </a>
            ),
          },
          { label: 'E-mail address', cell: (user) => user.email as string },
          {
            label: 'Role',
            cell: (user) => (
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
            ),
          },
          { label: 'Status', cell: (user) => <State value={String(user.status)} /> },
        ]}
        actions={(user) =>
          mayEdit && (
            <>
              {user.status !== 'Suspended' && (
                <Act onRun={() => invite(user)}>{user.status === 'Invited' ? 'Invite again' : 'Reset access'}</Act>
              )}
              {user.status === 'Active' && (
                <Act class="danger" onRun={() => suspend(user)}>
                  Suspend
                </Act>
              )}
              {user.status === 'Suspended' && <Act onRun={() => run(user, 'activate').catch(sayError)}>Activate</Act>}
            </>
          )
        }
      />
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
        <SecretDialog
          title="The invitation"
          about="Send this address to the person. It works once, for seven days, and is not shown again."
          label="The invitation"
          secret={invitation}
          onClose={() => setInvitation(null)}
        />
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
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('Member')
  const make = async () => {
    const user = await request<Entity>('POST', '/User', { body: { name, email, role } })
    const invited = await request<Entity>('POST', `/User/${user.$id}/invite`)
    props.onInvited(String(invited.invitation))
  }
  return (
    <FormDialog title="Invite a person" submit="Invite" onSubmit={make} onClose={props.onClose}>
      <TextField label="Name" required value={name} onChange={setName} />
      <TextField label="E-mail address" type="email" required value={email} onChange={setEmail} />
      <SelectField
        label="Role"
        value={role}
        options={props.roles.map((value) => ({ value, label: value }))}
        onChange={setRole}
      />
    </FormDialog>
  )
}
