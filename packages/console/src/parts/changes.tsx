import '../../style/pages/changes.css'
import type { Json } from '@tildebase/nouns'
import { FileChips } from '../files/file-chips.tsx'
import { nouns } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import type { Change } from '../values/diff.ts'
import { labelOf, shortText } from '../values/format.ts'
import { Arrow } from './arrow.tsx'
import { Value } from './value.tsx'

interface Moment {
  readonly id: string
  /** The number of the event. */
  readonly seq: number
}

/**
 * What changed, field by field: the value before, struck out, and the value after. Files open in the viewer when it is
 * known which event changed them.
 */
export function Changes(props: {
  changes: readonly Change[]
  type: string
  moment?: Moment
  /** The currency of amounts. */
  currency?: Json | undefined
}) {
  const { changes, type, moment, currency = null } = props
  if (changes.length === 0) return null
  return (
    <dl class="changes">
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{labelOf(field)}</dt>
          <dd>
            {before !== undefined && before !== null && (
              <del>
                <Side
                  type={type}
                  field={field}
                  value={before}
                  currency={currency}
                  moment={moment && { ...moment, seq: moment.seq - 1 }}
                />
              </del>
            )}
            {before !== undefined && <Arrow />}
            <ins>
              {after === undefined || after === null ? (
                t('empty')
              ) : (
                <Side type={type} field={field} value={after} currency={currency} moment={moment} />
              )}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Side(props: { type: string; field: string; value: Json; currency: Json; moment?: Moment | undefined }) {
  const { type, field, value, moment, currency } = props
  const declared = nouns.value.get(type)?.fields[field]
  if (declared?.kind === 'file') {
    const place = moment && { type, id: moment.id, field, list: declared.list, asOf: String(moment.seq) }
    return <FileChips value={value} place={place ?? null} />
  }
  const isPlain = typeof value === 'string' && declared?.kind === 'string' && field !== 'currency'
  return isPlain ? shortText(value) : <Value value={value} field={declared} name={field} entity={{ currency }} />
}
