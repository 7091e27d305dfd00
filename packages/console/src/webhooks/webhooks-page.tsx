import { Problem } from '@tildebase/client'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { asOf, go, href, place } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { FormDialog, SecretDialog } from '../ui/form-dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { LongTextField, TextField } from '../ui/inputs.tsx'
import { EmptyState } from '../ui/states.tsx'
import type { Entity } from '../values/entity.ts'
import { pretty } from '../values/format.ts'
import { Deliveries, HookState } from './deliveries.tsx'

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
  const [edited, setEdited] = useState<Entity | null>(null)
  const [secret, setSecret] = useState<Secret | null>(null)
  useKeys({
    Escape: () => place.value.path.length > 1 && go(['webhooks']),
    n: () => mayChange(noun) && setMaking(true),
  })
  const rows = hooks.value?.results ?? []
  const chosen = rows.find(({ $id }) => $id === place.value.path[1])
  const refresh = () => hooks.reload()
  const save = async ({ $id, $version: version }: Entity, body: Partial<HookForm>, said: string) => {
    const path = `/webhooks/${$id}`
    const { correlation } = await write({ method: 'PUT', path, version, type: 'Webhook', body })
    sayDone(said, correlation)
    refresh()
  }
  return (
    <>
      <Head title={t('Webhooks')} about={t('Signed events, sent to other systems')}>
        {mayChange(noun) && (
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            <Icon name="plus" /> {t('New webhook')}
          </button>
        )}
      </Head>
      <DataTable
        label={t('Webhooks')}
        data={hooks}
        rows={rows}
        keyOf={({ $id }) => $id}
        active={chosen ? rows.indexOf(chosen) : -1}
        empty={
          <EmptyState
            icon="hook"
            title={asOf.value === null ? t('No webhooks yet') : t('There were no webhooks at that time.')}
          >
            {mayChange(noun) && (
              <button type="button" class="primary" onClick={() => setMaking(true)}>
                {t('Send events to a URL')}
              </button>
            )}
          </EmptyState>
        }
        columns={[
          {
            label: 'URL',
            cell: (hook) => (
              <a class="title" href={href(['webhooks', hook.$id])} aria-current={hook === chosen ? 'true' : undefined}>
                {String(hook.description ?? hook.url)}
                {hook.description !== undefined && <small class="hint"> {String(hook.url)}</small>}
              </a>
            ),
          },
          { label: t('Status'), cell: (hook) => <HookState hook={hook} /> },
          {
            label: t('Events'),
            cell: (hook) => (
              <>
                <code>{(hook.events as string[]).join(', ')}</code>
                {hook.filter !== undefined && hook.filter !== null && (
                  <small class="hint">
                    {' '}
                    {t('that meet')} <code>{JSON.stringify(hook.filter)}</code>
                  </small>
                )}
              </>
            ),
          },
        ]}
        actions={(hook) =>
          mayChange(noun) && (
            <HookActions
              hook={hook}
              onEdit={() => setEdited(hook)}
              onResume={() => save(hook, {}, t('Webhook resumed. It sends events from now on.')).catch(sayError)}
              onDone={refresh}
              onSecret={setSecret}
            />
          )
        }
      />
      {chosen && <Deliveries key={chosen.$id} hook={chosen} writes={mayChange(noun)} onDone={refresh} />}
      {making && (
        <HookDialog
          title={t('New webhook')}
          submit={t('Create')}
          onSave={async (body) => {
            const made = await request<Entity>('POST', '/webhooks', { body })
            setMaking(false)
            setSecret({ title: t('Signing secret'), secret: String(made.secret) })
            refresh()
          }}
          onClose={() => setMaking(false)}
        />
      )}
      {edited && (
        <HookDialog
          title={t('Edit the webhook')}
          submit={t('Save')}
          hook={edited}
          onSave={async (body) => {
            await save(edited, body, t('Webhook saved.'))
            setEdited(null)
          }}
          onClose={() => setEdited(null)}
        />
      )}
      {secret && (
        <SecretDialog
          title={secret.title}
          about={t('This is the only time it is shown. The receiver checks signatures with it.')}
          label={t('The signing secret')}
          secret={secret.secret}
          onClose={() => setSecret(null)}
        />
      )}
    </>
  )
}

function HookActions({
  hook,
  onEdit,
  onResume,
  onDone,
  onSecret,
}: {
  hook: Entity
  onEdit: () => void
  onResume: () => Promise<unknown>
  onDone: () => void
  onSecret: (secret: Secret) => void
}) {
  const path = `/webhooks/${hook.$id}`
  const rotate = () =>
    request<{ secret: string }>('POST', `${path}/rotate`).then(({ secret }) => {
      onSecret({ title: t('New signing secret; the old one signs alongside for a day'), secret })
      onDone()
    }, sayError)
  const test = () =>
    request<{ status: number | null; error: string | null }>('POST', `${path}/test`).then(({ status, error }) => {
      if (error === null) say(t('It answered {}.', status))
      else say(t('It was not delivered: {}', error), { tone: 'bad' })
      onDone()
    }, sayError)
  const remove = () =>
    write({ method: 'DELETE', path, version: hook.$version, type: 'Webhook' }).then(({ correlation }) => {
      sayDone(t('Webhook deleted. It receives nothing from now on.'), correlation)
      onDone()
    }, sayError)
  return (
    <>
      {hook.suspended === true ? <Act onRun={onResume}>{t('Resume')}</Act> : <Act onRun={test}>{t('Send a test')}</Act>}
      <button type="button" onClick={onEdit}>
        {t('Edit')}
      </button>
      <Act onRun={rotate}>{t('Rotate secret')}</Act>
      <Act class="danger" onRun={remove}>
        {t('Delete')}
      </Act>
    </>
  )
}

interface HookForm {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string | null
  readonly filter: Json
}

/** Where events are sent, which, and what people call it. Its secret and its deliveries stay. */
function HookDialog(props: {
  title: string
  submit: string
  hook?: Entity
  onSave: (form: HookForm) => Promise<unknown>
  onClose: () => void
}) {
  const { hook } = props
  const [url, setUrl] = useState(String(hook?.url ?? ''))
  const [events, setEvents] = useState(((hook?.events as string[] | undefined) ?? ['*']).join(', '))
  const [name, setName] = useState(String(hook?.description ?? ''))
  const [filter, setFilter] = useState(hook?.filter ? pretty(hook.filter) : '')
  const patterns = events
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean)
  return (
    <FormDialog
      title={props.title}
      submit={props.submit}
      onSubmit={async () =>
        props.onSave({ url, events: patterns, description: name.trim() || null, filter: filterOf(filter) })
      }
      onClose={props.onClose}
    >
      <TextField label="URL" field="url" type="url" required placeholder="https://" value={url} onChange={setUrl} />
      <TextField
        label={t('Events')}
        field="events"
        hint={t('Patterns with commas: Contact.created, Deal.*, *.deleted')}
        class="code"
        required
        value={events}
        onChange={setEvents}
      />
      <LongTextField
        label={t('Only events that meet')}
        field="filter"
        hint={t('A filter over the event, such as {}. Empty: all of them.', '{"data.value": 1000}')}
        value={filter}
        onChange={setFilter}
      />
      <TextField label={t('Name')} field="description" value={name} onChange={setName} />
    </FormDialog>
  )
}

/** The filter that is written; null without one. */
function filterOf(text: string): Json {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text)
  } catch {
    throw new Problem('invalid_body', t('This is not JSON yet.'), { field: 'filter' })
  }
}
