import type { Change } from '../diff.ts'
import { labelOf, shortText } from '../format.ts'

/** What changed, field by field: before, struck out, and after. */
export function Changes({ changes }: { changes: readonly Change[] }) {
  if (changes.length === 0) return null
  return (
    <dl class="changes">
      {changes.map(({ field, before, after }) => (
        <div key={field}>
          <dt>{labelOf(field)}</dt>
          <dd>
            {before !== undefined && before !== null && <del>{shortText(before)}</del>}
            {before !== undefined && <span aria-hidden="true"> → </span>}
            <ins>{after === undefined || after === null ? 'empty' : shortText(after)}</ins>
          </dd>
        </div>
      ))}
    </dl>
  )
}
