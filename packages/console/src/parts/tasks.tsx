import { useEffect, useState } from 'preact/hooks'
import { agoText, labelOf, numberText } from '../format.ts'
import { type Session, session, tenantOf } from '../session.ts'

/** What the service works on for the operator. */
interface Task {
  readonly task: string
  readonly step: string
  readonly since: string
  readonly done?: number
  readonly of?: number | null
  readonly unit?: 'bytes' | 'events'
}

const EVERY_MS = 2_000

/** Running verifications, backups, restores and forks of the tenant, with their progress; for the operator key only. */
export function Tasks() {
  const mine = session.value
  const [tasks, setTasks] = useState<readonly Task[]>([])
  useEffect(() => {
    if (!mine || !isOperator(mine)) return
    const leaving = new AbortController()
    const look = async () => {
      if (document.hidden) return
      const found = await load(mine, leaving.signal)
      if (leaving.signal.aborted) return
      if (found === null) clearInterval(timer)
      else setTasks(found)
    }
    const timer = setInterval(look, EVERY_MS)
    void look()
    return () => {
      leaving.abort()
      clearInterval(timer)
    }
  }, [mine])
  if (tasks.length === 0) return null
  return (
    <section class="panel" aria-labelledby="tasks-title">
      <h2 id="tasks-title">Running tasks</h2>
      <ul class="lines">
        {tasks.map(({ task, step, since, done, of, unit }) => (
          <li key={`${task} ${since}`}>
            <span>
              {labelOf(task)}: {step}{' '}
              <progress aria-label={`Progress of ${task}`} {...(of ? { max: of, value: done ?? 0 } : {})} />
            </span>
            <span class="hint">
              {done !== undefined && of ? `${numberText(done)} of ${numberText(of)} ${unit} · ` : ''}
              {agoText(since)}
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** A key of a tenant names it at its end, and a person has a token; the operator's key has neither. */
function isOperator({ key, csrf }: Session): boolean {
  return csrf === undefined && tenantOf(key) === null
}

/** The running tasks; null where the service does not list them. */
async function load({ tenant, key }: Session, signal: AbortSignal): Promise<readonly Task[] | null> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`/operator/tenants/${tenant}/tasks`, { headers, signal, cache: 'no-store' })
    return response.ok ? (await response.json()).results : null
  } catch {
    // The service restarts, or the page is left.
    return []
  }
}
