import '../../style/pages/changes.css'
import type { Conflict } from '@tildebase/client'
import { useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { Act } from '../ui/basics.tsx'
import { numberText } from '../values/format.ts'

/** How many conflicts are decided one by one; beyond them one choice is for all. */
const MOST = 50

/** The conflicts of a changeset, each with a choice: take what was proposed, or leave what is there. */
export function Conflicts(props: {
  conflicts: readonly Conflict[]
  /** The numbers of all operations. */
  operations: readonly number[]
  onRebase: (keep: readonly number[]) => Promise<unknown>
}) {
  const numbers = [...new Set(props.conflicts.map(({ operation }) => operation))]
  const [taken, setTaken] = useState<ReadonlySet<number>>(new Set())
  const set = (some: readonly number[], isTaken: boolean) => {
    const next = new Set(taken)
    for (const number of some)
      if (isTaken) next.add(number)
      else next.delete(number)
    setTaken(next)
  }
  const keep = props.operations.filter((number) => !numbers.includes(number) || taken.has(number))
  return (
    <section class="panel conflicts" aria-labelledby="conflicts-title">
      <h2 id="conflicts-title">
        {numbers.length === 1 ? t('1 conflict') : t('{} conflicts', numberText(numbers.length))}
      </h2>
      <p class="about">
        {t('Others changed the same fields after the proposal, or a rule refuses it. Decide each one.')}
      </p>
      <ul>
        {numbers.slice(0, MOST).map((number) => (
          <li key={number}>
            <fieldset>
              <legend>
                <span class="review-number">{number}</span>{' '}
                {props.conflicts.find(({ operation }) => operation === number)!.reason}
              </legend>
              <label>
                <input
                  type="radio"
                  name={`conflict-${number}`}
                  checked={!taken.has(number)}
                  onChange={() => set([number], false)}
                />{' '}
                {t('Leave what is there')}
              </label>
              <label>
                <input
                  type="radio"
                  name={`conflict-${number}`}
                  checked={taken.has(number)}
                  onChange={() => set([number], true)}
                />{' '}
                {t('Take the proposal')}
              </label>
            </fieldset>
          </li>
        ))}
      </ul>
      <div class="actions">
        <button type="button" onClick={() => set(numbers, true)}>
          {t('Take all')}
        </button>
        <button type="button" onClick={() => set(numbers, false)}>
          {t('Leave all')}
        </button>
        <Act class="primary" onRun={() => props.onRebase(keep)}>
          {t('Apply choices')}
        </Act>
      </div>
    </section>
  )
}
