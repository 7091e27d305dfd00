import '../../style/pages/code.css'
import '../../style/pages/people.css'
import { Value } from '../parts/value.tsx'
import { addPasskey } from '../service/account.ts'
import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { session, signInAddress } from '../service/session.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { type Column, DataTable } from '../ui/data-table.tsx'
import { confirm } from '../ui/dialog.tsx'
import { EmptyState } from '../ui/states.tsx'
import { labelOf } from '../values/format.ts'
import { PasswordForm } from './password-form.tsx'

interface Listed<T> {
  readonly results: readonly T[]
}

interface Passkey {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

interface SessionView {
  readonly id: string
  readonly current: boolean
  readonly method: string
  readonly address: string
  readonly agent: string
  readonly lastUsedAt: string
}

interface Agent {
  readonly id: string
  readonly client: { readonly name: string; readonly host: string } | null
  readonly scopes: string
  readonly createdAt: string
  readonly lastUsedAt: string | null
}

/** A person's own account: how they sign in, where they are signed in, and which agents act for them. */
export function AccountPage() {
  if (session.value?.csrf === undefined)
    return (
      <>
        <Head title={t('Your account')} />
        <EmptyState icon="person" title={t('A key has no account')}>
          <a class="button" href={signInAddress(session.value?.tenant ?? '')}>
            {t('Sign in as a person')}
          </a>
        </EmptyState>
      </>
    )
  return (
    <>
      <Head title={t('Your account')} about={t('How you sign in, and what acts for you')} />
      <Passkeys />
      <PasswordForm />
      <Sessions />
      <Agents />
    </>
  )
}

function Passkeys() {
  const keys = useList<Passkey>('passkeys')
  const add = () =>
    addPasskey().then(() => {
      say(t('The passkey is added.'))
      keys.reload()
    }, sayError)
  return (
    <section class="block" aria-labelledby="passkeys">
      <h2 id="passkeys">{t('Passkeys')}</h2>
      <Mine
        list={keys}
        empty={t('You have no passkey yet.')}
        label={t('Passkeys')}
        columns={[
          { label: t('Name'), cell: ({ name }) => name },
          { label: t('Added'), cell: ({ createdAt }) => <Value value={createdAt} name="createdAt" /> },
          { label: t('Last used'), cell: ({ lastUsedAt }) => <Value value={lastUsedAt} name="lastUsedAt" /> },
        ]}
        actions={({ id, name }) => (
          <Remove list={keys} path={`passkeys/${id}`} title={t('Remove {}?', name)} verb={t('Remove')} />
        )}
      />
      <Act icon="plus" onRun={add}>
        {t('Add a passkey')}
      </Act>
    </section>
  )
}

function Sessions() {
  const sessions = useList<SessionView>('sessions')
  return (
    <section class="block" aria-labelledby="sessions">
      <h2 id="sessions">{t('Sessions')}</h2>
      <Mine
        list={sessions}
        empty={t('No sessions')}
        label={t('Where you are signed in')}
        columns={[
          {
            label: t('Browser'),
            cell: ({ agent, current }) => (
              <>
                {agent || t('Unknown')} {current && <strong>{t('(this one)')}</strong>}
              </>
            ),
          },
          { label: t('Signed in with'), cell: ({ method }) => labelOf(method) },
          { label: t('Last used'), cell: ({ lastUsedAt }) => <Value value={lastUsedAt} name="lastUsedAt" /> },
        ]}
        actions={({ id, current }) =>
          !current && <Remove list={sessions} path={`sessions/${id}`} title={t('End this session?')} verb={t('End')} />
        }
      />
    </section>
  )
}

function Agents() {
  const agents = useList<Agent>('tokens')
  return (
    <section class="block" aria-labelledby="agents">
      <h2 id="agents">{t('Agents and applications')}</h2>
      <Mine
        list={agents}
        empty={t('Nothing acts for you.')}
        label={t('Agents and applications')}
        columns={[
          {
            label: t('Name'),
            cell: ({ client }) => (
              <>
                {client?.name ?? t('Unknown')} <small>{client?.host}</small>
              </>
            ),
          },
          { label: t('May'), cell: ({ scopes }) => <code>{scopes}</code> },
          { label: t('Allowed'), cell: ({ createdAt }) => <Value value={createdAt} name="createdAt" /> },
          { label: t('Last used'), cell: ({ lastUsedAt }) => <Value value={lastUsedAt} name="lastUsedAt" /> },
        ]}
        actions={({ id, client }) => (
          <Remove
            list={agents}
            path={`tokens/${id}`}
            title={t('Disconnect {}?', client?.name ?? t('this agent'))}
            verb={t('Disconnect')}
          />
        )}
      />
    </section>
  )
}

type List<T> = ReturnType<typeof useData<Listed<T>>>

function useList<T>(name: string): List<T> {
  return useData<Listed<T>>(['account', name], (signal) => request('GET', `/account/${name}`, { signal }))
}

function Mine<T extends { readonly id: string }>(props: {
  list: List<T>
  label: string
  empty: string
  columns: readonly Column<T>[]
  actions: (one: T) => preact.ComponentChildren
}) {
  return (
    <DataTable
      label={props.label}
      data={props.list}
      rows={props.list.value?.results ?? []}
      keyOf={({ id }) => id}
      columns={props.columns}
      actions={props.actions}
      empty={<p class="about">{props.empty}</p>}
    />
  )
}

function Remove<T>(props: { list: List<T>; path: string; title: string; verb: string }) {
  const run = async () => {
    if (!(await confirm(props.title, t('It stops working at once.'), props.verb))) return
    await request('DELETE', `/account/${props.path}`).then(props.list.reload, sayError)
  }
  return (
    <Act class="danger" onRun={run}>
      {props.verb}
    </Act>
  )
}
