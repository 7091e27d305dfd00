import { useId, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { useData } from '../cache.ts'
import type { Entity } from '../entity.ts'
import { useKeys } from '../keyboard.ts'
import { Deliveries } from '../parts/deliveries.tsx'
import { State } from '../parts/value.tsx'
import { asOf, go, href, place } from '../place.ts'
import { nouns, type Page } from '../schema.ts'
import { request } from '../service.ts'
import { say, sayError } from '../toast.ts'
import { Act, Copyable, Head, Labelled } from '../ui/basics.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import { sayDone, write } from '../write.ts'

interface Secret {
  readonly title: string
  readonly secret: string
}

/** The receivers of events, whether delivery works, and what was sent. */
export function WebhooksPage() {
  const noun = nouns.value.get('Webhook')
  const hooks = useData<Page>(
    ['webhooks', asOf.value],
    (signal) => request('GET', '/webhooks', { query: { limit: 100, asOf: asOf.value }, signal }),
    { types: asOf.value === null ? ['Webhook'] : [] },
  )
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<Secret | null>(null)
  useKeys({
    Escape: () => place.value.path.length > 1 && go(['webhooks']),
    n: () => mayChange(noun) && setMaking(true),
  })
  const rows = hooks.value?.results ?? []
  const chosen = rows.find(({ $id }) => $id === place.value.path[1])
  const refresh = () => hooks.reload()
  return (
    <>
      <Head title="Webhooks" about="Signed events, sent to other systems">
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> New webhook
          </button>
        )}
      </Head>
      <Failure error={hooks.error} onRetry={hooks.reload} />
      {!hooks.value && !hooks.error && <Skeleton rows={3} />}
      {hooks.value && rows.length === 0 && (
        <EmptyState icon="hook" title="No webhooks yet">
          {mayChange(noun) && (
            <button type="button" class="primary" onClick={() => setMaking(true)}>
              Send events to a URL
            </button>
          )}
        </EmptyState>
      )}
      <ul class="cards">
        {rows.map((hook) => (
          <li key={hook.$id} class={`panel card${hook === chosen ? ' chosen' : ''}`}>
            <div class="card-head">
              <State value={String(hook.status)} />
              <a class="title" href={href(['webhooks', hook.$id])} aria-current={hook === chosen ? 'true' : undefined}>
                {String(hook.url)}
              </a>
            </div>
            <p class="hint">
              <code>{(hook.events as string[]).join(', ')}</code>
            </p>
            {mayChange(noun) && <HookActions hook={hook} onDone={refresh} onSecret={setSecret} />}
          </li>
        ))}
      </ul>
      {chosen && <Deliveries key={chosen.$id} hook={chosen} writes={mayChange(noun)} onDone={refresh} />}
      {making && (
        <NewWebhook
          onClose={() => setMaking(false)}
          onMade={(made) => {
            setMaking(false)
            setSecret({ title: 'Signing secret', secret: String(made.secret) })
            refresh()
          }}
        />
      )}
      {secret && (
        <Dialog title={secret.title} onClose={() => setSecret(null)}>
          <p>This is the only time it is shown. The receiver checks signatures with it.</p>
          <Copyable text={secret.secret} label="The signing secret" />
        </Dialog>
      )}
    </>
  )
}

function HookActions({
  hook,
  onDone,
  onSecret,
}: {
  hook: Entity
  onDone: () => void
  onSecret: (secret: Secret) => void
}) {
  const path = `/webhooks/${hook.$id}`
  const rotate = () =>
    request<{ secret: string }>('POST', `${path}/rotate`).then(({ secret }) => {
      onSecret({ title: 'New signing secret; the old one signs alongside for a day', secret })
      onDone()
    }, sayError)
  const test = () =>
    request<{ status: number | null; error: string | null }>('POST', `${path}/test`).then(({ status, error }) => {
      if (error === null) say(`It answered ${status}.`)
      else say(`It was not delivered: ${error}`, { tone: 'bad' })
      onDone()
    }, sayError)
  const remove = () =>
    write({ method: 'DELETE', path, version: hook.$version, type: 'Webhook' }).then(({ correlation }) => {
      sayDone('Webhook deleted. It receives nothing from now on.', correlation)
      onDone()
    }, sayError)
  return (
    <div class="actions">
      <Act onRun={test}>Send a test</Act>
      <Act onRun={rotate}>Rotate secret</Act>
      <Act class="danger" onRun={remove}>
        Delete
      </Act>
    </div>
  )
}

function NewWebhook({ onClose, onMade }: { onClose: () => void; onMade: (made: Entity) => void }) {
  const id = useId()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('*')
  const [error, setError] = useState<Error | null>(null)
  const make = () =>
    request<Entity>('POST', '/webhooks', {
      body: {
        url,
        events: events
          .split(',')
          .map((word) => word.trim())
          .filter(Boolean),
      },
    }).then(onMade, setError)
  useKeys({ 'mod+s': () => void make() })
  return (
    <Dialog title="New webhook" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <Labelled label="URL" for={`${id}-url`}>
          <input
            id={`${id}-url`}
            type="url"
            required
            placeholder="https://"
            value={url}
            onInput={(event) => setUrl(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled label="Events" for={`${id}-events`} hint="Patterns with commas: Contact.created, Deal.*, *.deleted">
          <input
            id={`${id}-events`}
            class="code"
            required
            value={events}
            onInput={(event) => setEvents(event.currentTarget.value)}
          />
        </Labelled>
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
