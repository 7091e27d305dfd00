import '../../style/pages/code.css'
import type { EventRecord } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { useKeys } from '../keyboard.ts'
import { Editor } from '../parts/forms/editor.tsx'
import { EntityLink } from '../parts/value.tsx'
import { asOf } from '../place.ts'
import { mayWrite } from '../service/access.ts'
import { request } from '../service/service.ts'
import { session } from '../service/session.ts'
import { undo as undoAll } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { Act, Head, Scroll } from '../ui/basics.tsx'
import { Copyable, JsonText } from '../ui/json-text.tsx'
import { Failure } from '../ui/states.tsx'

interface Done {
  readonly result: unknown
  readonly logs: readonly unknown[]
  readonly events?: readonly EventRecord[]
  readonly correlation?: string | null
}

const FIRST = `const leads = await $.Contact.find({ stage: 'Lead' }, { limit: 5 })
console.log(leads.length, 'leads')
leads.map((lead) => lead.name)`

/** The address for agents, and the same tool for people: code against the tenant, with a dry run first. */
export function AgentPage() {
  const [code, setCode] = useState(FIRST)
  const [dryRun, setDryRun] = useState(true)
  const [done, setDone] = useState<(Done & { readonly wasDry: boolean }) | null>(null)
  const [error, setError] = useState<Error | null>(null)
  const url = `${location.origin}/~${session.value?.tenant}/mcp`
  const config = JSON.stringify(
    { mcpServers: { tildebase: { type: 'http', url, headers: { Authorization: 'Bearer YOUR_KEY' } } } },
    null,
    2,
  )
  const dry = dryRun || asOf.value !== null || !mayWrite()
  const run = async () => {
    try {
      const answer = await request<Done>('POST', '/do', { body: { code, dryRun: dry } })
      setDone({ ...answer, wasDry: dry })
      setError(null)
    } catch (reason) {
      setDone(null)
      setError(reason as Error)
    }
  }
  const undo = (correlation: string) => undoAll(correlation).then(() => setDone(null))
  useKeys({ 'mod+Enter': () => void run(), 'mod+s': () => void run() })
  return (
    <>
      <Head
        title={t('Agents')}
        about={t('Search, fetch and do: three tools over MCP, bound to this tenant and to a key')}
      />
      {asOf.value !== null && (
        <p class="notice" role="status">
          {t('Code runs on the data as it is now, and writes nothing.')}
        </p>
      )}
      <div class="split">
        <section class="panel">
          <h2>{t('Address')}</h2>
          <Copyable text={url} label={t('The MCP address')} />
          <h2>{t("For an agent's settings")}</h2>
          <Copyable text={config} label={t('Settings of an MCP client')} />
          <p class="hint">
            {t(
              "Give an agent a key of its own, as narrow as its work. What it does carries the key's name in every history.",
            )}
          </p>
        </section>
        <section class="panel">
          <h2>{t('Do')}</h2>
          <Editor label={t('Code')} language="typescript" value={code} onChange={setCode} onRun={() => void run()} />
          <p class="hint">{t('TypeScript with $ bound to the tenant. The last expression is the result.')}</p>
          <div class="run">
            <label>
              <input
                type="checkbox"
                checked={dry}
                disabled={asOf.value !== null || !mayWrite()}
                onChange={(event) => setDryRun(event.currentTarget.checked)}
              />{' '}
              {t('Dry run: write nothing')}
            </label>
            <Act class="primary" onRun={run}>
              {t('Run')} <kbd>Ctrl ↵</kbd>
            </Act>
          </div>
          <Failure error={error} />
          {done && (
            <div class="outcome">
              <h3>{t('Result')}</h3>
              <JsonText value={done.result ?? null} label={t('Result')} />
              {done.logs.length > 0 && (
                <>
                  <h3>{t('Logs')}</h3>
                  <Scroll label={t('Logs')} class="json">
                    <pre>
                      {done.logs.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n')}
                    </pre>
                  </Scroll>
                </>
              )}
              <Written events={done.events ?? []} wasDry={done.wasDry} />
              {!done.wasDry && done.correlation && (
                <Act class="danger" onRun={() => undo(done.correlation!)}>
                  {t('Undo all of it')}
                </Act>
              )}
            </div>
          )}
        </section>
      </div>
    </>
  )
}

function Written({ events, wasDry }: { events: readonly EventRecord[]; wasDry: boolean }) {
  if (events.length === 0) return wasDry ? <p class="hint">{t('It would write nothing.')}</p> : null
  return (
    <>
      <h3>{wasDry ? t('It would write') : t('It wrote')}</h3>
      <ul class="written">
        {events.map((event) => (
          <li key={event.id}>
            <b>{event.type}</b>{' '}
            {wasDry ? <code>{event.entityId}</code> : <EntityLink to={event.entityId} target={event.entityType} />}
          </li>
        ))}
      </ul>
    </>
  )
}
