import { useId, useState } from 'preact/hooks'
import { mayChange } from '../access.ts'
import { ask } from '../api.ts'
import { useKeys } from '../keyboard.ts'
import { Act, Copyable, Dialog, Empty, Head, Labelled, Trouble } from '../parts/basics.tsx'
import { Deliveries } from '../parts/deliveries.tsx'
import { say, sayError } from '../parts/notes.tsx'
import { State } from '../parts/value.tsx'
import { asOf, go, href, place } from '../place.ts'
import { type Entity, nouns, type Page } from '../schema.ts'
import { useAnswer } from '../use.ts'

interface Secret {
  readonly title: string
  readonly secret: string
}

/** Who is told of events, whether that works, and what was sent. */
export function WebhooksPage() {
  const noun = nouns.value.get('Webhook')
  const hooks = useAnswer<Page>(
    (signal) => ask('GET', '/webhooks', { query: { limit: 100, asOf: asOf.value }, signal }),
    [asOf.value],
  )
  const [making, setMaking] = useState(false)
  const [secret, setSecret] = useState<Secret | null>(null)
  const [turn, setTurn] = useState(0)
  useKeys({
    Escape: () => go(place.value.path.length > 1 ? ['webhooks'] : []),
    n: () => mayChange(noun) && setMaking(true),
  })
  const rows = hooks.value?.results ?? []
  const chosen = rows.find(({ $id }) => $id === place.value.path[1])
  const refresh = () => {
    hooks.reload()
    setTurn((number) => number + 1)
  }
  return (
    <>
      <Head title="Webhooks" about="Each is sent the events it asked for, signed">
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            New webhook
          </button>
        )}
      </Head>
      <Trouble error={hooks.error} />
      {hooks.value && rows.length === 0 && <Empty>Nobody is told of events yet.</Empty>}
      <ul class="cards">
        {rows.map((hook) => (
          <li key={hook.$id} class={`panel card${hook === chosen ? ' chosen' : ''}`}>
            <div class="card-head">
              <State value={String(hook.status)} values={['active', 'failing']} />
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
      {chosen && <Deliveries hook={chosen} turn={turn} writes={mayChange(noun)} onDone={refresh} />}
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
    ask<{ secret: string }>('POST', `${path}/rotate`).then(({ secret }) => {
      onSecret({ title: 'New signing secret; the old one signs alongside for a day', secret })
      onDone()
    }, sayError)
  const test = () =>
    ask<{ status: number | null; error: string | null }>('POST', `${path}/test`).then(({ status, error }) => {
      if (error === null) say(`It answered ${status}.`)
      else say(`It was not delivered: ${error}`, 'bad')
      onDone()
    }, sayError)
  const remove = () =>
    ask('DELETE', path).then(() => {
      say('It is told nothing from now on.')
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
    ask<Entity>('POST', '/webhooks', {
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
