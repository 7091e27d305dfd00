import '../../style/pages/events.css'
import { useState } from 'preact/hooks'
import { Editor } from '../parts/forms/editor.tsx'
import { useData } from '../service/cache.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import { Act } from '../ui/basics.tsx'
import { Icon } from '../ui/icon.tsx'
import { Failure, Skeleton } from '../ui/states.tsx'
import { labelOf, momentText } from '../values/format.ts'
import type { Noun } from '../values/noun.ts'
import { HookTrial } from './hook-trial.tsx'

interface Hook {
  readonly name: string
  readonly runs: 'before' | 'after'
  readonly code: string
  readonly failures: readonly { readonly seq: number; readonly error: string; readonly next: string | null }[]
}

interface Hooks {
  readonly hooks: readonly Hook[]
  readonly steps: { readonly before: readonly string[]; readonly after: readonly string[] }
}

const BEFORE = `(entity) => {
  // Return fields to change, or throw to refuse.
}`
const AFTER = `async (entity, $) => {
  // $ reads and writes.
}`

/** The code that runs before and after the verbs of a type. */
export function TypeHooks({ noun, canWrite }: { noun: Noun; canWrite: boolean }) {
  const path = `/schema/${noun.name}/hooks`
  const found = useData<Hooks>(['hooks', noun.name], (signal) => request('GET', path, { signal }), { types: ['Hook'] })
  const [open, setOpen] = useState<string | null>(null)
  if (!found.value) return found.error ? <Failure error={found.error} onRetry={found.reload} /> : <Skeleton rows={3} />
  const { hooks, steps } = found.value
  const list = [...steps.before, ...steps.after]
  const chosen = open ?? hooks[0]?.name ?? null
  const hook = hooks.find(({ name }) => name === chosen)
  return (
    <section class="panel" aria-labelledby="hooks-title">
      <h2 id="hooks-title">{t('Hooks')}</h2>
      <label class="hook-step">
        <span class="hint">{t('Step')}</span>
        <select
          aria-label={t('Step')}
          value={chosen ?? ''}
          onChange={(event) => setOpen(event.currentTarget.value || null)}
        >
          <option value="">{t('choose…')}</option>
          {list.map((step) => (
            <option key={step} value={step}>
              {t('{}, {} the action', labelOf(step), steps.before.includes(step) ? t('before') : t('after'))}
              {hooks.some(({ name }) => name === step) ? ` ${t('· has code')}` : ''}
            </option>
          ))}
        </select>
      </label>
      {chosen && (
        <HookCode
          key={chosen}
          noun={noun}
          step={chosen}
          isBefore={steps.before.includes(chosen)}
          hook={hook ?? null}
          canWrite={canWrite}
          onChanged={found.reload}
        />
      )}
    </section>
  )
}

function HookCode(props: {
  noun: Noun
  step: string
  isBefore: boolean
  hook: Hook | null
  canWrite: boolean
  onChanged: () => void
}) {
  const { noun, step, hook } = props
  const [code, setCode] = useState(hook?.code ?? (props.isBefore ? BEFORE : AFTER))
  const [error, setError] = useState<Error | null>(null)
  const path = `/schema/${noun.name}/hooks/${step}`
  const save = () =>
    request('PUT', path, { body: { code } }).then(() => {
      setError(null)
      say(t('The hook {} is stored.', step))
      props.onChanged()
    }, setError)
  const remove = () =>
    request('DELETE', path).then(() => {
      say(t('The hook {} is taken away.', step))
      props.onChanged()
    }, sayError)
  return (
    <>
      <Editor label={t('Code of {}', step)} language="typescript" value={code} onChange={setCode} />
      <Failure error={error} />
      {hook && hook.failures.length > 0 && (
        <ul class="attempts">
          {hook.failures.map((failure) => (
            <li key={failure.seq}>
              {t('Event {}: {}', failure.seq, failure.error)}
              {failure.next && ` ${t('· next try {}', momentText(failure.next))}`}
            </li>
          ))}
        </ul>
      )}
      <HookTrial noun={noun} code={code} isBefore={props.isBefore} />
      <footer class="import-actions">
        {props.canWrite && (
          <Act class="primary" onRun={save}>
            {t('Store the hook')}
          </Act>
        )}
        {props.canWrite && hook && (
          <Act class="danger" onRun={remove}>
            <Icon name="bin" /> {t('Take it away')}
          </Act>
        )}
      </footer>
    </>
  )
}
