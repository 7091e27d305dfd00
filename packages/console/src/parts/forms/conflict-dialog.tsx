import '../../../style/pages/changes.css'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { titleOf } from '../../service/schema.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { actorName } from '../../values/actors.ts'
import { agoText, labelOf } from '../../values/format.ts'
import { Value } from '../value.tsx'
import { type Clash, clash } from './save.ts'

/** The window that settles, field by field, what two people changed at the same time. */
export function ConflictDialog() {
  const open = clash.value
  return open ? <Decision key={open.theirs.$version} clash={open} /> : null
}

function Decision({ clash: { noun, theirs, merge, by, resolve } }: { clash: Clash }) {
  const [mine, setMine] = useState<ReadonlySet<string>>(new Set(merge.conflicts.map(({ field }) => field)))
  const choose = (field: string, isMine: boolean) =>
    setMine((old) => (isMine ? new Set([...old, field]) : new Set([...old].filter((one) => one !== field))))
  const save = () => {
    const kept = merge.conflicts.filter(({ field }) => mine.has(field))
    resolve(Object.fromEntries(kept.map((one) => [one.field, (one.mine ?? null) as Json])))
  }
  return (
    <Dialog title={`${titleOf(theirs, noun)} changed while you edited`} size="wide" onClose={() => resolve(null)}>
      {by.length > 0 && (
        <p>
          Changed by{' '}
          {by.map(({ actor, at }, n) => (
            <span key={actor}>
              {n > 0 && ', '}
              <b>{actorName(actor)}</b> {agoText(at)}
            </span>
          ))}
          .
        </p>
      )}
      <p class="hint">Choose which value each field keeps. Your other changes are saved as they are.</p>
      <div class="conflicts">
        {merge.conflicts.map((one) => (
          <fieldset key={one.field}>
            <legend>{labelOf(one.field)}</legend>
            {[
              { label: 'Yours', value: one.mine, isMine: true },
              { label: 'Theirs', value: one.theirs, isMine: false },
            ].map(({ label, value, isMine }) => (
              <label key={label} class={mine.has(one.field) === isMine ? 'chosen' : ''}>
                <input
                  type="radio"
                  name={`conflict-${one.field}`}
                  checked={mine.has(one.field) === isMine}
                  onChange={() => choose(one.field, isMine)}
                />
                <span class="whose">{label}</span>
                <Value value={value} field={noun.fields[one.field]} name={one.field} />
              </label>
            ))}
            <p class="hint">
              Before: <Value value={one.base} field={noun.fields[one.field]} name={one.field} />
            </p>
          </fieldset>
        ))}
      </div>
      {merge.theirs.length > 0 && (
        <p class="hint">They also changed {merge.theirs.map((name) => labelOf(name).toLowerCase()).join(', ')}.</p>
      )}
      <footer>
        <button type="button" class="primary" onClick={save}>
          Save
        </button>
        <button type="button" onClick={() => resolve(null)}>
          Back to editing
        </button>
      </footer>
    </Dialog>
  )
}
