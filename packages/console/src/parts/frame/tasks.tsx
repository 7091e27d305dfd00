import '../../../style/pages/home.css'
import { useEffect, useState } from 'preact/hooks'
import { isOperator, type Session } from '../../service/session.ts'
import { t } from '../../texts/text.ts'
import { say } from '../../toast.ts'
import { agoText, bytesText, inSentence, labelOf, numberText } from '../../values/format.ts'
import { TaskLine } from './task-line.tsx'

/** What the service works on for the operator. */
interface Task {
  readonly task: string
  readonly step: string
  readonly since: string
  readonly done?: number
  readonly of?: number | null
  readonly unit?: 'bytes' | 'events'
}

const EVERY_MS = 1_000

/** Running verifications, backups, restores and forks of a tenant, with their progress; for the operator key only. */
export function Tasks({ of, onEnd }: { of: Session | null; onEnd?: () => void }) {
  const [tasks, setTasks] = useState<readonly Task[]>([])
  const { tenant, key, csrf } = of ?? { tenant: '', key: '' }
  useEffect(() => {
    if (of === null || !isOperator(of)) return
    const leaving = new AbortController()
    let last: readonly Task[] = []
    const look = async () => {
      if (document.hidden) return
      const found = await load(tenant, key, leaving.signal)
      if (leaving.signal.aborted) return
      if (found === null) return clearInterval(timer)
      for (const { task } of last.filter((one) => !found.some((other) => isSame(one, other))))
        say(t('{} of ~{} ended.', labelOf(task), tenant))
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
            key={`${one.task} ${one.since}`}
            name={t('Progress of {}', inSentence(one.task))}
            text={`${labelOf(one.task)}: ${inSentence(one.step)}`}
            hint={`${amountText(one)}${agoText(one.since)}`}
            done={one.done}
            of={one.of}
          />
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

function isSame(one: Task, other: Task): boolean {
  return one.task === other.task && one.since === other.since
}

/** The running tasks; null where the service does not list them. */
async function load(tenant: string, key: string, signal: AbortSignal): Promise<readonly Task[] | null> {
  try {
    const headers = { authorization: `Bearer ${key}` }
    const response = await fetch(`/operator/tenants/${tenant}/tasks`, { headers, signal, cache: 'no-store' })
    return response.ok ? (await response.json()).results : null
  } catch {
    // The service restarts, or the page is left.
    return []
  }
}
