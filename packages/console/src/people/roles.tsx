import '../../style/pages/people.css'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { asOf } from '../place.ts'
import { mayAdminister } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState } from '../ui/states.tsx'
import { inSentence } from '../values/format.ts'
import { type Role, RoleForm } from './role-form.tsx'
import { ownRows, rightsOf, rightsTexts } from './role-rights.ts'

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
    const text = t('People who have this role keep its name, and may do nothing until they get another one.')
    if (!(await confirm(t('Delete the role {}?', role.name), text, t('Delete')))) return
    await request('DELETE', `/schema/roles/${role.name}`).then(() => {
      say(t('The role {} is deleted.', role.name))
      roles.reload()
    }, sayError)
  }
  return (
    <>
      <Head title={t('Roles')} about={t('What people may do; a change takes effect on their next request')}>
        {mayEdit && (
          <button type="button" class="primary" onClick={() => setEdited(EMPTY)}>
            <Icon name="plus" /> {t('New role')}
          </button>
        )}
      </Head>
      {asOf.value !== null && (
        <p class="notice" role="status">
          {t('Roles are shown as they are now.')}
        </p>
      )}
      <DataTable
        label={t('Roles')}
        data={roles}
        rows={roles.value?.results ?? []}
        keyOf={({ name }) => name}
        empty={<EmptyState icon="people" title={t('No roles')} />}
        columns={[
          { label: t('Name'), cell: ({ name }) => name },
          {
            label: t('May'),
            cell: ({ scopes }) => (
              <span class="tags" title={scopes}>
                {rightsTexts(scopes).map((text) => (
                  <span key={text} class="state tone-dim">
                    {text}
                  </span>
                ))}
              </span>
            ),
          },
          { label: t('Only some records'), cell: ({ scopes, filter }) => rowsText(scopes, filter) },
        ]}
        actions={(role) =>
          mayEdit &&
          !role.builtIn && (
            <>
              <button type="button" onClick={() => setEdited(role)}>
                {t('Edit')}
              </button>
              <Act class="danger" onRun={() => remove(role)}>
                {t('Delete')}
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
            say(t('The role {} is saved.', name))
            roles.reload()
          }}
        />
      )}
    </>
  )
}

/** Which records a role sees, in words. */
function rowsText(scopes: string, filter: object | null): string {
  const types = Object.keys(filter ?? {})
  if (types.length === 0) return '—'
  const own = ownRows(nouns.value.values(), rightsOf(scopes))
  if (JSON.stringify(own) === JSON.stringify(filter)) return t('Own records only')
  return types.map((type) => t('Some {}', inSentence(nouns.value.get(type)?.path ?? type))).join(', ')
}
