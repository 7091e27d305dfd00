import { useState } from 'preact/hooks'
import { Changes } from '../parts/changes.tsx'
import { Seal } from '../parts/seal.tsx'
import { EntityLink, Time } from '../parts/value.tsx'
import { asOf, travel } from '../place.ts'
import { useData } from '../service/cache.ts'
import { may } from '../service/rights.ts'
import { nouns, type Page } from '../service/schema.ts'
import { request, statusOf } from '../service/service.ts'
import { undo } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { sayError } from '../toast.ts'
import { useTurns } from '../turns.ts'
import { Act } from '../ui/basics.tsx'
import { Failure, Loading } from '../ui/states.tsx'
import { actorName } from '../values/actors.ts'
import { changesOf, type Version } from '../values/diff.ts'
import { agoText, labelOf } from '../values/format.ts'

const STEP = 25
/** So many are drawn at once. */
const AT_ONCE = 6

/** The versions of an entity, newest first: who did what, when, and how to get back there. */
export function Timeline(props: {
  type: string
  id: string
  writes: boolean
  onRollback: (version: Version) => Promise<unknown>
}) {
  const path = `/${props.type}/${props.id}/history`
  const [older, setOlder] = useState<readonly Version[]>([])
  const [cursor, setCursor] = useState<string | null | undefined>()
  const first = useData<Page<Version>>(
    ['history', props.id],
    (signal) => request('GET', path, { query: { limit: STEP }, signal }),
    { types: [props.type] },
  )
  const more = async () => {
    const at = cursor ?? first.value?.cursor ?? undefined
    const page = await request<Page<Version>>('GET', path, { query: { limit: STEP, cursor: at } })
    setOlder([...older, ...page.results])
    setCursor(page.cursor)
  }
  const newest = first.value?.results ?? []
  const versions = [...newest, ...older.filter(({ seq }) => !newest.some((one) => one.seq === seq))]
  const drawn = useTurns(versions.length, AT_ONCE, AT_ONCE)
  const left = cursor === undefined ? first.value?.cursor : cursor
  if (statusOf(first.error) === 404) return null
  if (!first.value && !first.error) return <Loading />
  return (
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">{t('History')}</h2>
      <Failure error={first.error} onRetry={first.reload} />
      <ol class="timeline">
        {versions.slice(0, drawn).map((version, at) => (
          <Moment key={version.seq} version={version} isNewest={at === 0} {...props} />
        ))}
      </ol>
      {left && <Act onRun={() => more().catch(sayError)}>{t('Earlier versions')}</Act>}
    </section>
  )
}

function Moment(props: {
  type: string
  id: string
  version: Version
  isNewest: boolean
  writes: boolean
  onRollback: (version: Version) => Promise<unknown>
}) {
  const { version, isNewest } = props
  const time = asOf.value
  const isAhead = time !== null && Date.parse(version.timestamp) > Date.parse(time)
  return (
    <li class={`moment verb-${version.verb}${isAhead ? ' ahead' : ''}`}>
      <div class="moment-head">
        <strong>{labelOf(version.event)}</strong>
        {isAhead && <span class="version">{t('still to come')}</span>}
        <span class="by">
          {t('by')}{' '}
          <b title={version.actor}>
            <Actor actor={version.actor} />
          </b>
        </span>
        <span class="when">
          {agoText(version.timestamp)} · <Time iso={version.timestamp} />
        </span>
      </div>
      <Changes
        changes={changesOf(version)}
        type={props.type}
        currency={version.data?.currency}
        moment={{ id: props.id, seq: version.seq }}
      />
      <div class="moment-actions">
        <button type="button" class="quiet" onClick={() => travel(version.timestamp)}>
          {t('See this moment')}
        </button>
        <Seal event={String(version.seq)} />
        {props.writes && version.correlation && (
          <Act
            class="quiet"
            onRun={() => undo(version.correlation!)}
            title={t('Takes back everything that was changed with it')}
          >
            {t('Undo this change')}
          </Act>
        )}
        {props.writes && !isNewest && version.verb !== 'delete' && (
          <Act class="quiet" onRun={() => props.onRollback(version)}>
            {t('Return to this state')}
          </Act>
        )}
      </div>
    </li>
  )
}

/** Who acted. A workflow is a link to it. */
function Actor({ actor }: { actor: string }) {
  const [, workflow] = /^workflow:(.+)$/.exec(actor) ?? []
  if (workflow && may('read', nouns.value.get('Workflow'))) return <EntityLink to={workflow} target="Workflow" />
  return <>{actorName(actor)}</>
}
