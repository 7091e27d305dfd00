import { useState } from 'preact/hooks'
import { actorName } from '../actors.ts'
import { ask, Refusal } from '../api.ts'
import { changesOf, type Version } from '../diff.ts'
import { agoText, labelOf } from '../format.ts'
import { asOf, travel } from '../place.ts'
import type { Page } from '../schema.ts'
import { useAnswer } from '../use.ts'
import { Act, Trouble } from './basics.tsx'
import { Changes } from './changes.tsx'
import { sayError } from './notes.tsx'
import { Time } from './value.tsx'

/** The versions of an entity, newest first: who did what, when, and how to get back there. */
export function Timeline(props: {
  type: string
  id: string
  turn: number
  writes: boolean
  onRollback: (version: Version) => Promise<unknown>
}) {
  const { type, id } = props
  const [older, setOlder] = useState<readonly Version[]>([])
  const [cursor, setCursor] = useState<string | null | undefined>()
  const path = `/${type}/${id}/history`
  const first = useAnswer<Page<Version>>(
    (signal) => ask('GET', path, { query: { limit: 25 }, signal }),
    [path, props.turn],
  )
  const more = async () => {
    const page = await ask<Page<Version>>('GET', path, { query: { limit: 25, cursor: cursor ?? first.value?.cursor } })
    setOlder([...older, ...page.results])
    setCursor(page.cursor)
  }
  const versions = [...(first.value?.results ?? []), ...older]
  const left = cursor === undefined ? first.value?.cursor : cursor
  if (first.error instanceof Refusal && first.error.status === 404) return null
  return (
    <section class="panel" aria-labelledby="history-title">
      <h2 id="history-title">History</h2>
      <Trouble error={first.error} />
      <ol class="timeline">
        {versions.map((version, at) => (
          <Moment key={version.seq} version={version} isNewest={at === 0} {...props} />
        ))}
      </ol>
      {left && <Act onRun={() => more().catch(sayError)}>Earlier versions</Act>}
    </section>
  )
}

function Moment(props: {
  type: string
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
        <span class="version">v{version.version}</span>
        <span class="by">
          by <b title={version.actor}>{actorName(version.actor)}</b>
        </span>
        <span class="when">
          <Time iso={version.timestamp} /> · {agoText(version.timestamp)}
        </span>
      </div>
      <Changes changes={changesOf(version)} type={props.type} />
      <div class="moment-actions">
        <button type="button" class="quiet" onClick={() => travel(version.timestamp)}>
          See this moment
        </button>
        {props.writes && !isNewest && version.verb !== 'delete' && (
          <Act class="quiet" onRun={() => props.onRollback(version)}>
            Roll back to here
          </Act>
        )}
      </div>
    </li>
  )
}
