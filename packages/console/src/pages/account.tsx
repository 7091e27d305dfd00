import { useId, useState } from 'preact/hooks'
import { addPasskey } from '../account.ts'
import { useData } from '../cache.ts'
import { Value } from '../parts/value.tsx'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head, Labelled, Scroll } from '../ui/basics.tsx'
import { confirm } from '../ui/dialog.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'

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
  return (
    <>
      <Head title="Your account" about="How you sign in, and what acts for you" />
      <Passkeys />
      <Password />
      <Sessions />
      <Agents />
    </>
  )
}

function Passkeys() {
  const keys = useList<Passkey>('passkeys')
  const add = () =>
    addPasskey().then(() => {
      say('The passkey is added.')
      keys.reload()
    }, sayError)
  return (
    <section class="block" aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <Table list={keys} empty="You have no passkey yet." label="Passkeys" columns={['Name', 'Added', 'Last used']}>
        {(one) => (
          <tr key={one.id}>
            <td>{one.name}</td>
            <td>
              <Value value={one.createdAt} name="createdAt" />
            </td>
            <td>
              <Value value={one.lastUsedAt} name="lastUsedAt" />
            </td>
            <td class="row-actions">
              <Remove list={keys} path={`passkeys/${one.id}`} title={`Remove ${one.name}?`} verb="Remove" />
            </td>
          </tr>
        )}
      </Table>
      <Act icon="plus" onRun={add}>
        Add a passkey
      </Act>
    </section>
  )
}

function Password() {
  const id = useId()
  const [current, setCurrent] = useState('')
  const [password, setPassword] = useState('')
  const [error, setError] = useState<Error | null>(null)
  const change = async () => {
    setError(null)
    await request('PUT', '/account/password', { body: { password, ...(current && { current }) } }).then(() => {
      say('The password is changed. Your other sessions are ended.')
      setCurrent('')
      setPassword('')
    }, setError)
  }
  return (
    <section class="block" aria-labelledby="password">
      <h2 id="password">Password</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void change()
        }}
      >
        <Labelled label="Current password" for={`${id}-current`} hint="Leave it empty if you have none.">
          <input
            id={`${id}-current`}
            type="password"
            autocomplete="current-password"
            value={current}
            onInput={(event) => setCurrent(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled label="New password" for={`${id}-new`} hint="12 characters or more.">
          <input
            id={`${id}-new`}
            type="password"
            autocomplete="new-password"
            minLength={12}
            required
            value={password}
            onInput={(event) => setPassword(event.currentTarget.value)}
          />
        </Labelled>
        <Failure error={error} />
        <button type="submit">Change the password</button>
      </form>
    </section>
  )
}

function Sessions() {
  const sessions = useList<SessionView>('sessions')
  return (
    <section class="block" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <Table list={sessions} empty="No sessions" label="Sessions" columns={['Browser', 'Signed in with', 'Last used']}>
        {(one) => (
          <tr key={one.id}>
            <td>
              {one.agent || 'Unknown'} {one.current && <strong>(this one)</strong>}
            </td>
            <td>{one.method}</td>
            <td>
              <Value value={one.lastUsedAt} name="lastUsedAt" />
            </td>
            <td class="row-actions">
              {!one.current && (
                <Remove list={sessions} path={`sessions/${one.id}`} title="End this session?" verb="End" />
              )}
            </td>
          </tr>
        )}
      </Table>
    </section>
  )
}

function Agents() {
  const agents = useList<Agent>('tokens')
  return (
    <section class="block" aria-labelledby="agents">
      <h2 id="agents">Agents and applications</h2>
      <Table
        list={agents}
        empty="Nothing acts for you."
        label="Agents and applications"
        columns={['Name', 'May', 'Allowed', 'Last used']}
      >
        {(one) => (
          <tr key={one.id}>
            <td>
              {one.client?.name ?? 'Unknown'} <small>{one.client?.host}</small>
            </td>
            <td>
              <code>{one.scopes}</code>
            </td>
            <td>
              <Value value={one.createdAt} name="createdAt" />
            </td>
            <td>
              <Value value={one.lastUsedAt} name="lastUsedAt" />
            </td>
            <td class="row-actions">
              <Remove
                list={agents}
                path={`tokens/${one.id}`}
                title={`Disconnect ${one.client?.name ?? 'this agent'}?`}
                verb="Disconnect"
              />
            </td>
          </tr>
        )}
      </Table>
    </section>
  )
}

type List<T> = ReturnType<typeof useData<Listed<T>>>

function useList<T>(name: string): List<T> {
  return useData<Listed<T>>(['account', name], (signal) => request('GET', `/account/${name}`, { signal }))
}

function Table<T>(props: {
  list: List<T>
  label: string
  empty: string
  columns: readonly string[]
  children: (one: T) => preact.ComponentChild
}) {
  const { value, error, reload } = props.list
  if (error) return <Failure error={error} onRetry={reload} />
  if (!value) return <Skeleton rows={2} />
  if (value.results.length === 0) return <EmptyState title={props.empty} />
  return (
    <Scroll label={props.label}>
      <table class="grid">
        <thead>
          <tr>
            {props.columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>{value.results.map(props.children)}</tbody>
      </table>
    </Scroll>
  )
}

function Remove<T>(props: { list: List<T>; path: string; title: string; verb: string }) {
  const run = async () => {
    if (!(await confirm(props.title, 'It stops working at once.', props.verb))) return
    await request('DELETE', `/account/${props.path}`).then(props.list.reload, sayError)
  }
  return (
    <Act class="danger" onRun={run}>
      {props.verb}
    </Act>
  )
}
