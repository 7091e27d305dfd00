import '../../style/pages/people.css'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { asOf } from '../place.ts'
import { mayAdminister } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState } from '../ui/states.tsx'
import { type Role, RoleForm } from './role-form.tsx'

const EMPTY: Role = { name: '', scopes: 'read:all', filter: null, builtIn: false }

/** The roles that people can have: those of the service, and the tenant's own. */
export function RolesPage() {
  const roles = useData<{ results: readonly Role[] }>(['roles'], (signal) =>
    request('GET', '/schema/roles', { signal }),
  )
  const [edited, setEdited] = useState<Role | null>(null)
  const mayEdit = asOf.value === null && mayAdminister('User')
  useKeys({ n: () => mayEdit && setEdited(EMPTY) })
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
      {asOf.value !== null && (
        <p class="notice" role="status">
          Roles are shown as they are now.
        </p>
      )}
      <DataTable
        label="Roles"
        data={roles}
        rows={roles.value?.results ?? []}
        keyOf={({ name }) => name}
        empty={<EmptyState icon="people" title="No roles" />}
        columns={[
          { label: 'Name', cell: ({ name }) => name },
          { label: 'Scopes', cell: ({ scopes }) => <code>{scopes}</code> },
          { label: 'Only these rows', cell: ({ filter }) => (filter ? <code>{JSON.stringify(filter)}</code> : '—') },
        ]}
        actions={(role) =>
          mayEdit &&
          !role.builtIn && (
            <>
              <button type="button" onClick={() => setEdited(role)}>
                Edit
              </button>
              <Act class="danger" onRun={() => remove(role)}>
                Delete
              </Act>
            </>
          )
        }
      />
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
