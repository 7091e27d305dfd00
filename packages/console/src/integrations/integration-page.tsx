import { useEffect, useState } from 'preact/hooks'
import { State } from '../parts/value.tsx'
import { href } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { useData } from '../service/cache.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { Act, Head } from '../ui/basics.tsx'
import { DataTable } from '../ui/data-table.tsx'
import { confirm } from '../ui/dialog.tsx'
import { Icon } from '../ui/icon.tsx'
import { EmptyState, Failure, Skeleton } from '../ui/states.tsx'
import type { Version } from '../values/diff.ts'
import type { Entity } from '../values/entity.ts'
import { agoText, labelOf, momentText, numberText } from '../values/format.ts'
import { wordsOf } from '../values/noun.ts'
import { ConnectDialog } from './connect-dialog.tsx'
import { MappingPanel } from './mapping-panel.tsx'

const TYPE = 'Integration'
/** How often a run is asked how far it is. */
const EVERY_MS = 1_000
const COUNTS = ['created', 'updated', 'unchanged', 'failed'] as const

type Counts = { readonly [name in (typeof COUNTS)[number]]?: number }

/** A run in progress, and what it has done so far. */
interface Run extends Counts {
  readonly running: boolean
  readonly begunAt?: string
  readonly object?: string | null
}

/** One connection: to run, watch and stop, with the runs before, and which of their fields become which of ours. */
export function IntegrationPage({ id }: { id: string }) {
  const noun = nouns.value.get(TYPE)
  const [connecting, setConnecting] = useState(false)
  const found = useData<Entity>([TYPE, id], (signal) => request('GET', `/${TYPE}/${id}`, { signal }), { types: [TYPE] })
  const one = found.value
  const [run, look] = useRun(id)
  if (!one) return found.error ? <Failure error={found.error} onRetry={found.reload} /> : <Skeleton rows={6} />
  const name = String(one.name)
  const isConnected = one.status === 'Connected' || one.status === 'Synced'
  const writes = mayChange(noun)
  const ask = async (verb: 'sync' | 'stop' | 'disconnect') => {
    const { correlation } = await write({ path: `/${TYPE}/${id}/${verb}`, body: {}, type: TYPE })
    look()
    return correlation
  }
  const start = () => ask('sync').catch(sayError)
  const stop = () => ask('stop').catch(sayError)
  const disconnect = async () => {
    const about = t('Its credentials are deleted. What it wrote stays.')
    if (!(await confirm(t('Disconnect {}?', name), about, t('Disconnect')))) return
    await ask('disconnect').then((correlation) => sayDone(t('{} is disconnected.', name), correlation), sayError)
  }
  return (
    <>
      <Head
        title={name}
        about={
          <>
            <State
              value={run?.running ? 'Running' : one.error ? 'Failing' : String(one.status)}
              values={wordsOf(noun?.fields.status)}
            />{' '}
            {[one.provider, one.scope, one.apiBaseUrl].filter(Boolean).join(' · ')}
          </>
        }
      >
        <a class="button" href={href(['integrations'])}>
          <Icon name="left" /> {t('Connections')}
        </a>
        {writes && isConnected && !run?.running && (
          <Act class="primary" onRun={start}>
            {t('Run now')}
          </Act>
        )}
        {writes && run?.running && (
          <Act class="primary" onRun={stop}>
            {t('Stop')}
          </Act>
        )}
        {writes && isConnected && (
          <Act class="danger" onRun={disconnect}>
            {t('Disconnect')}
          </Act>
        )}
        {writes && !isConnected && (
          <button type="button" class="primary" onClick={() => setConnecting(true)}>
            {t('Connect')}
          </button>
        )}
      </Head>
      {run?.running && (
        <section class="panel" aria-labelledby="run-title">
          <h2 id="run-title">{t('Running')}</h2>
          <p role="status">
            {run.object ? t('Reading {}', run.object) : t('Starting')}: {countsText(run)}.{' '}
            {run.begunAt && <span class="hint">{t('Started {}', agoText(run.begunAt))}</span>}
          </p>
          <progress aria-label={t('Run of {}', name)} />
        </section>
      )}
      {!run?.running && one.error ? (
        <p class="notice" role="status">
          {t('The last run failed: {}', String(one.error))}
        </p>
      ) : null}
      <Runs id={id} isRunning={run?.running ?? false} />
      {isConnected && <MappingPanel integration={one} mayWrite={writes} />}
      {connecting && <ConnectDialog integration={one} onClose={() => setConnecting(false)} />}
    </>
  )
}

/** The run of an integration while it is in progress, and how to look at once. */
function useRun(id: string): [Run | null, () => void] {
  const [run, setRun] = useState<Run | null>(null)
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    const look = async () => {
      if (document.hidden) return
      const found = await request<Run>('GET', `/${TYPE}/${id}/run`, { signal: leaving.signal }).catch(() => null)
      if (!leaving.signal.aborted) setRun(found)
    }
    const timer = setInterval(look, EVERY_MS)
    void look()
    return () => {
      leaving.abort()
      clearInterval(timer)
    }
  }, [id, turn])
  return [run, () => setTurn((count) => count + 1)]
}

const SHOWN = 5
const RUNS: readonly string[] = ['synced', 'failed', 'connected', 'disconnected']

/** What happened to an integration, the newest first. */
function Runs({ id, isRunning }: { id: string; isRunning: boolean }) {
  const found = useData<Page<Version>>(
    ['runs', id, isRunning],
    (signal) => request('GET', `/${TYPE}/${id}/history`, { query: { limit: 50 }, signal }),
    { types: [TYPE] },
  )
  const nameOf = ({ event }: Version) => event.split('.').at(-1) ?? event
  const rows = (found.value?.results ?? []).filter((version) => RUNS.includes(nameOf(version))).slice(0, SHOWN)
  return (
    <section class="panel" aria-labelledby="runs-title">
      <h2 id="runs-title">{t('Runs')}</h2>
      <DataTable
        label={t('Runs')}
        data={found}
        rows={rows}
        keyOf={({ version }) => String(version)}
        empty={<EmptyState icon="clock" title={t('It has not run yet')} />}
        columns={[
          { label: t('Time'), cell: ({ timestamp }) => momentText(timestamp) },
          { label: t('What'), cell: (version) => labelOf(nameOf(version)) },
          {
            label: t('Records'),
            cell: ({ args }) => [args?.reason, args && countsText(args)].filter(Boolean).join(' ') || '—',
          },
        ]}
      />
    </section>
  )
}

function countsText(counts: Counts | Version['args']): string {
  const given = counts as { readonly [name: string]: unknown }
  return COUNTS.filter((name) => typeof given[name] === 'number')
    .map((name) => `${numberText(given[name] as number)} ${name}`)
    .join(', ')
}
