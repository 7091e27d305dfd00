import '../../style/pages/changes.css'
import type { Conflict } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { Act } from '../ui/basics.tsx'
import { numberText } from '../values/format.ts'
import { decisionsOf, type Rebase, type Reviewed, rebaseOf } from './changeset.ts'

/** How many conflicts are decided one by one; beyond them one choice is for all. */
const MOST = 50

/** The conflicts of a changeset, each with a choice: take what was proposed, or leave what is there. */
export function Conflicts(props: {
  operations: Reviewed['operations']
  conflicts: readonly Conflict[]
  onRebase: (rebase: Rebase) => Promise<unknown>
}) {
  const decisions = decisionsOf(props)
  const [taken, setTaken] = useState<ReadonlySet<string>>(new Set())
  const set = (some: readonly string[], isTaken: boolean) => {
    const next = new Set(taken)
    for (const key of some)
      if (isTaken) next.add(key)
      else next.delete(key)
    setTaken(next)
  }
  const keys = decisions.map(({ key }) => key)
  const left = decisions.filter(({ key }) => !taken.has(key))
  return (
    <section class="panel conflicts" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">{keys.length === 1 ? t('1 conflict') : t('{} conflicts', numberText(keys.length))}</h2>
      <p class="about">
        {t('Others changed the same fields after the proposal, or a rule refuses it. Decide each one.')}
      </p>
      <ul>
        {decisions.slice(0, MOST).map(({ key, operation, field, reason }) => (
          <li key={key}>
            <fieldset>
              <legend>
                <span class="review-number">{operation}</span> {reason}
              </legend>
              <label>
                <input
                  type="radio"
                  name={`conflict-${key}`}
                  checked={!taken.has(key)}
                  onChange={() => set([key], false)}
                />{' '}
                {field === null ? t('Leave out this change') : t('Leave what is there')}
              </label>
              <label>
                <input
                  type="radio"
                  name={`conflict-${key}`}
                  checked={taken.has(key)}
                  onChange={() => set([key], true)}
                />{' '}
                {t('Take the proposal')}
              </label>
            </fieldset>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" onClick={() => set(keys, true)}>
          {t('Take all')}
        </button>
        <button type="button" onClick={() => set(keys, false)}>
          {t('Leave all')}
        </button>
        <Act class="primary" onRun={() => props.onRebase(rebaseOf(props.operations, left))}>
          {t('Apply choices')}
        </Act>
      </div>
    </section>
  )
}
