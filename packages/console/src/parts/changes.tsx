import type { Change } from '../diff.ts'
import { labelOf, shortText } from '../format.ts'
import { nouns } from '../schema.ts'
import { Value } from './value.tsx'

/** What changed, field by field: before, struck out, and after. */
export function Changes({ changes, type }: { changes: readonly Change[]; type: string }) {
  const noun = nouns.value.get(type)
  if (changes.length === 0) return null
  return (
    <dl class="changes">
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{labelOf(field)}</dt>
          <dd>
            {before !== undefined && before !== null && <del>{shortText(before)}</del>}
            {before !== undefined && <span aria-hidden="true"> → </span>}
            <ins>
              {after === undefined || after === null ? (
                'empty'
              ) : noun?.fields[field]?.kind === 'forward' ? (
                <Value value={after} field={noun.fields[field]} />
              ) : (
                shortText(after)
              )}
            </ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
