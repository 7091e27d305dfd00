import { useState } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { pretty } from '../values/format.ts'
import { Scroll } from './basics.tsx'

/** A string to copy. */
export function Copyable({ text, label }: { text: string; label: string }) {
  const [done, setDone] = useState(false)
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => setDone(true),
      () => undefined,
    )
  return (
    <div class="copyable">
      <Scroll label={label} class="json">
        <pre>{text}</pre>
      </Scroll>
      <button type="button" onClick={copy}>
        {done ? t('Copied') : t('Copy')}
      </button>
    </div>
  )
}

/** JSON to read. */
export function JsonText({ value, label }: { value: unknown; label: string }) {
  return (
    <Scroll label={label} class="json">
      <pre>{pretty(value)}</pre>
    </Scroll>
  )
}

/** JSON to unfold. */
export function FoldedJson({ value, label }: { value: unknown; label: string }) {
  return (
    <details class="folded">
      <summary>{t('Values')}</summary>
      <JsonText value={value} label={label} />
    </details>
  )
}
