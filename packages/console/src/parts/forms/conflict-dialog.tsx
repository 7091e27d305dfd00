import '../../../style/pages/changes.css'
import type { Json } from '@tildebase/nouns'
import { useState } from 'preact/hooks'
import { titleOf } from '../../service/schema.ts'
import { t } from '../../texts/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { actorName } from '../../values/actors.ts'
import { agoText, inSentence, labelOf } from '../../values/format.ts'
import { Value } from '../value.tsx'
import { type Clash, clash } from './clash.ts'

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
    <Dialog title={t('{} changed while you edited', titleOf(theirs, noun))} size="wide" onClose={() => resolve(null)}>
      {by.length > 0 && (
        <p>
          {t('Changed by')}{' '}
          {by.map(({ actor, at }, n) => (
            <span key={actor}>
              {n > 0 && ', '}
              <b>{actorName(actor)}</b> {agoText(at)}
            </span>
          ))}
          .
        </p>
      )}
      <p class="hint">{t('Choose which value each field keeps. Your other changes are saved as they are.')}</p>
      <div class="conflicts">
        {merge.conflicts.map((one) => (
          <fieldset key={one.field}>
            <legend>{labelOf(one.field)}</legend>
            {[
              { label: t('Yours'), value: one.mine, isMine: true },
              { label: t('Theirs'), value: one.theirs, isMine: false },
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
              {t('Before:')} <Value value={one.base} field={noun.fields[one.field]} name={one.field} />
            </p>
          </fieldset>
        ))}
      </div>
      {merge.theirs.length > 0 && (
        <p class="hint">{t('They also changed {}.', merge.theirs.map((name) => inSentence(name)).join(', '))}</p>
      )}
      <footer>
        <button type="button" class="primary" onClick={save}>
          {t('Save')}
        </button>
        <button type="button" onClick={() => resolve(null)}>
          {t('Back to editing')}
        </button>
      </footer>
    </Dialog>
  )
}
