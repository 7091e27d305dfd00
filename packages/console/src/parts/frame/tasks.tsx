import '../../../style/pages/home.css'
import { wireTo } from '@tildebase/client'
import { useEffect, useState } from 'preact/hooks'
import { isOperator, type Session } from '../../service/session.ts'
import { t } from '../../texts/text.ts'
import { say, sayError } from '../../toast.ts'
import { Act } from '../../ui/basics.tsx'
import { actorName } from '../../values/actors.ts'
import { agoText, bytesText, inSentence, labelOf, numberText } from '../../values/format.ts'
import { TaskLine } from './task-line.tsx'

/** What the service works on for the operator. */
interface Task {
  readonly tenant: string
  readonly task: string
  readonly step: string
  readonly since: string
  readonly done?: number
  readonly of?: number | null
  readonly unit?: 'bytes' | 'events'
  /** Who sent a write that takes long, and its id. */
  readonly actor?: string
  readonly id?: string
}

const EVERY_MS = 1_000

/** Running verifications, backups, restores, forks and long writes, with their progress; for the operator key only. */
export function Tasks(props: {
  of: Session | null
  /** Of all tenants, and not of the one that is open. */
  isAll?: boolean
  onEnd?: () => void
}) {
  const { of, isAll = false, onEnd } = props
  const [tasks, setTasks] = useState<readonly Task[]>([])
  const { tenant, key, csrf } = of ?? { tenant: '', key: '' }
  useEffect(() => {
    if (of === null || !isOperator(of)) return
    const leaving = new AbortController()
    let last: readonly Task[] = []
    const look = async () => {
      if (document.hidden) return
      const found = await load(isAll ? '' : `/tenants/${tenant}`, key, leaving.signal)
      if (leaving.signal.aborted) return
      if (found === null) return clearInterval(timer)
      for (const one of last.filter((one) => !found.some((other) => keyOf(one) === keyOf(other))))
        say(t('{} of ~{} ended.', labelOf(one.task), one.tenant))
      if (last.length > 0 && found.length === 0) onEnd?.()
      last = found
      setTasks(found)
    }
    const timer = setInterval(look, EVERY_MS)
    void look()
    return () => {
      leaving.abort()
      clearInterval(timer)
    }
  }, [tenant, key, csrf])
  if (tasks.length === 0) return null
  return (
    <section class="panel" aria-labelledby="tasks-title">
      <h2 id="tasks-title">{t('Running tasks')}</h2>
      <ul class="lines">
        {tasks.map((one) => (
          <TaskLine
            key={keyOf(one)}
            name={t('Progress of {}', inSentence(one.task))}
            text={
              <>
                {isAll && <b>~{one.tenant} </b>}
                {labelOf(one.task)}: {one.id ? <code>{one.step}</code> : inSentence(one.step)}
              </>
            }
            hint={`${one.actor ? `${actorName(one.actor)} · ` : ''}${amountText(one)}${agoText(one.since)}`}
            done={one.done}
            of={one.of}
          >
            {one.id && <Act onRun={() => cancel(one, key).catch(sayError)}>{t('Cancel')}</Act>}
          </TaskLine>
        ))}
      </ul>
    </section>
  )
}

/** `1.2 MB of 30 MB · `, as far as it is known. */
function amountText({ done, of, unit }: Task): string {
  if (done === undefined) return ''
  const text = unit === 'bytes' ? bytesText : numberText
  const amount = of ? t('{} of {}', text(done), text(of)) : text(done)
  return `${amount}${unit === undefined || unit === 'bytes' ? '' : ` ${inSentence(unit)}`} · `
}

function keyOf({ tenant, task, since, id }: Task): string {
  return id ?? `${tenant} ${task} ${since}`
}

/** Ends a long write. Nothing of it is kept. */
async function cancel({ tenant, id }: Task, key: string): Promise<void> {
  await wireTo({ apiKey: key, baseUrl: location.origin }).json(`/~${tenant}/tasks/${id}`, { method: 'DELETE' })
}

/** The running tasks; null where the service does not list them. */
async function load(path: string, key: string, signal: AbortSignal): Promise<readonly Task[] | null> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`/operator${path}/tasks`, { headers, signal, cache: 'no-store' })
    return response.ok ? (await response.json()).results : null
  } catch {
    // The service restarts, or the page is left.
    return []
  }
}
