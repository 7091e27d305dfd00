import type { ChangesetEffect } from '@tildebase/client'
import { Arrow } from '../parts/arrow.tsx'
import { useData } from '../service/cache.ts'
import { nouns } from '../service/schema.ts'
import { request } from '../service/service.ts'
import { t } from '../texts/text.ts'
import { Failure, Skeleton } from '../ui/states.tsx'
import { metricText } from '../values/figures.ts'
import { inSentence, isMoney, labelOf } from '../values/format.ts'

/** One number that changes, in words. */
interface NumberLine {
  readonly label: string
  readonly from: number | null
  readonly to: number | null
  readonly text: (value: number) => string
}

/** What an open changeset would change in metrics, counts and sums. Only events of the types that it touches matter. */
export function EffectPanel({ id, types }: { id: string; types: readonly string[] }) {
  const found = useData<ChangesetEffect>(
    ['changeset effect', id],
    (signal) => request('GET', `/changesets/${id}/effect`, { signal }),
    { types: [...types, 'Changeset'] },
  )
  const lines = found.value ? linesOf(found.value) : []
  return (
    <section class="panel effect" aria-labelledby="effect-title">
      <h2 id="effect-title">{t('Effect on metrics')}</h2>
      <Failure error={found.error} onRetry={found.reload} />
      {!found.value && !found.error && <Skeleton rows={3} label={t('Calculating')} />}
      {found.value && lines.length === 0 && <p class="about">{t('No count, sum or metric changes.')}</p>}
      <dl>
        {lines.map(({ label, from, to, text }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <del>{from === null ? t('none') : text(from)}</del> <Arrow />{' '}
              <ins>{to === null ? t('none') : text(to)}</ins>{' '}
              {from !== null && to !== null && (
                <small>
                  {to > from ? '+' : '−'}
                  {text(Math.abs(to - from))}
                </small>
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function linesOf({ metrics, aggregates }: ChangesetEffect): NumberLine[] {
  return [
    ...metrics.map(({ name, unit, from, to }) => ({ label: labelOf(name), from, to, text: textIn(unit) })),
    ...aggregates.map(({ type, measure, field, group = {}, from, to }) => {
      const of = labelOf(nouns.value.get(type)?.path ?? type)
      const state = measure === 'count' ? Object.values(group)[0] : undefined
      const label = measure === 'sum' ? t('{}: sum of {}', of, inSentence(field!)) : of
      const currency = field !== undefined && isMoney(field) ? String(group.currency ?? '') : ''
      const word = state === null ? t('none') : labelOf(String(state))
      return { label: state === undefined ? label : `${of}: ${word}`, from, to, text: textIn(currency) }
    }),
  ]
}

function textIn(unit: string): (value: number) => string {
  return (value) => metricText(value, unit)
}
