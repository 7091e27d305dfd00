import '../../style/pages/changes.css'
import type { Json } from '@tildebase/nouns'
import { nouns } from '../service/schema.ts'
import type { Change } from '../values/diff.ts'
import { labelOf, shortText } from '../values/format.ts'
import { Value } from './value.tsx'

/** What changed, field by field: the value before, struck out, and the value after. */
export function Changes({ changes, type }: { changes: readonly Change[]; type: string }) {
  if (changes.length === 0) return null
  return (
    <dl class="changes">
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{labelOf(field)}</dt>
          <dd>
            {before !== undefined && before !== null && (
              <del>
                <Side type={type} field={field} value={before} />
              </del>
            )}
            {before !== undefined && <span aria-hidden="true"> → </span>}
            <ins>
              {after === undefined || after === null ? 'empty' : <Side type={type} field={field} value={after} />}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function Side({ type, field, value }: { type: string; field: string; value: Json }) {
  const declared = nouns.value.get(type)?.fields[field]
  return declared?.kind === 'forward' ? <Value value={value} field={declared} /> : shortText(value)
}
