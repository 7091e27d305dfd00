import { useRef, useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { State } from '../parts/value.tsx'
import { asOf, href } from '../place.ts'
import { mayAdminister } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { allOf } from '../service/pages.ts'
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

/** The people of the tenant: to invite, to give a role, to suspend. */
export function PeoplePage() {
  const people = useData<readonly Entity[]>(
    ['people', asOf.value],
    (signal) => allOf('User', { asOf: asOf.value ?? undefined }, signal),
    { types: asOf.value === null ? ['User'] : [] },
  )
  const roles = useRoles()
  const [making, setMaking] = useState(false)
  const [invitation, setInvitation] = useState<string | null>(null)
  const mayEdit = asOf.value === null && mayAdminister('User')
  useKeys({ n: () => mayEdit && setMaking(true) })
  const run = (user: Entity, verb: string) => request<Entity>('POST', `/User/${user.$id}/${verb}`)
  const invite = (user: Entity) =>
    run(user, 'invite').then((invited) => setInvitation(atThisAddress(String(invited.invitation))), sayError)
  const suspend = async (user: Entity) => {
    const text = t('All sessions and agents of this person end at once.')
    if (!(await confirm(t('Suspend {}?', user.name), text, t('Suspend')))) return
    await run(user, 'suspend').then(() => say(t('{} is suspended.', user.name)), sayError)
  }
  const give = (user: Entity, role: string) =>
    request('PUT', `/User/${user.$id}`, { body: { role } }).then(
      () => say(t('{} is {} now.', user.name, role)),
      sayError,
    )
  return (
    <>
      <Head title={t('People')} about={t('Who signs in, and what they may do')}>
        {mayEdit && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> {t('Invite a person')}
          </button>
        )}
      </Head>
      <DataTable
        label={t('People')}
        data={people}
        rows={people.value ?? []}
        keyOf={({ $id }) => $id}
        empty={
          <EmptyState
            icon="people"
            title={asOf.value === null ? t('No people yet') : t('There were no people at that time.')}
          />
        }
        columns={[
          {
            label: t('Name'),
            cell: (user) => (
              <a class="title" href={href(['User', user.$id])}>
                {user.name as string}
              </a>
            ),
          },
          { label: t('E-mail address'), cell: (user) => user.email as string },
          {
            label: t('Role'),
            cell: (user) => (
              <select
                aria-label={t('Role of {}', user.name)}
                disabled={!mayEdit}
                value={String(user.role ?? '')}
                onChange={(event) => void give(user, event.currentTarget.value)}
              >
                {!user.role && <option value="">{t('none')}</option>}
                {roles.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            ),
          },
          { label: t('Status'), cell: (user) => <State value={String(user.status)} /> },
        ]}
        actions={(user) =>
          mayEdit && (
            <>
              {user.status !== 'Suspended' && (
                <Act onRun={() => invite(user)}>
                  {user.status === 'Invited' ? t('Invite again') : t('Reset access')}
                </Act>
              )}
              {user.status === 'Active' && (
                <Act class="danger" onRun={() => suspend(user)}>
                  {t('Suspend')}
                </Act>
              )}
              {user.status === 'Suspended' && (
                <Act onRun={() => run(user, 'activate').catch(sayError)}>{t('Activate')}</Act>
              )}
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
          title={t('The invitation')}
          about={t('Send this address to the person. It works once, for seven days, and is not shown again.')}
          label={t('The invitation')}
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

/** An address of the service as this browser reaches it. The service may know itself by another name. */
function atThisAddress(url: string): string {
  const { pathname, search, hash } = new URL(url, location.origin)
  return `${location.origin}${pathname}${search}${hash}`
}

function NewPerson(props: { roles: readonly string[]; onClose: () => void; onInvited: (url: string) => void }) {
  const [name, setName] = useState('')
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('Member')
  // Without an answer to the second request, the person is there when people try again.
  const made = useRef<Entity | null>(null)
  const make = async () => {
    const body = { name, email, role }
    made.current = made.current
      ? await request<Entity>('PUT', `/User/${made.current.$id}`, { body })
      : await request<Entity>('POST', '/User', { body })
    const invited = await request<Entity>('POST', `/User/${made.current.$id}/invite`)
    props.onInvited(atThisAddress(String(invited.invitation)))
  }
  return (
    <FormDialog title={t('Invite a person')} submit={t('Invite')} onSubmit={make} onClose={props.onClose}>
      <TextField label={t('Name')} field="name" required value={name} onChange={setName} />
      <TextField label={t('E-mail address')} field="email" type="email" required value={email} onChange={setEmail} />
      <SelectField
        label={t('Role')}
        field="role"
        value={role}
        options={props.roles.map((value) => ({ value, label: value }))}
        onChange={setRole}
      />
    </FormDialog>
  )
}
