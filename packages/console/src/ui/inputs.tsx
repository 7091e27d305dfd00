import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { t } from '../texts/text.ts'
import { Labelled } from './basics.tsx'

interface Told {
  readonly label: string
  /** The name by which the service knows it, to show there why it was refused. */
  readonly field?: string
  readonly hint?: ComponentChildren
  readonly value: string
  readonly onChange: (value: string) => void
}

interface Line extends Told {
  readonly type?: 'text' | 'email' | 'url' | 'password' | 'datetime-local'
  readonly required?: boolean
  readonly disabled?: boolean
  readonly pattern?: string
  readonly minLength?: number
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly class?: string
}

/** A labelled line of text. */
export function TextField({ label, field, hint, onChange, type = 'text', ...rest }: Line) {
  const id = useId()
  return (
    <Labelled label={label} for={id} field={field} hint={hint}>
      <input
        autocomplete="off"
        {...rest}
        // The types of JSX ask for one kind of input at a time.
        type={type as 'text'}
        id={id}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Labelled>
  )
}

/** A box that narrows what is shown to some words. */
export function SearchBox(props: { label: string; hint?: string; value: string; onChange: (words: string) => void }) {
  return (
    <input
      type="search"
      aria-label={props.label}
      placeholder={props.hint ?? props.label}
      value={props.value}
      onInput={(event) => props.onChange(event.currentTarget.value)}
    />
  )
}

/** A labelled text of several lines. */
export function LongTextField(props: Told & { readonly rows?: number; readonly required?: boolean }) {
  const { label, field, hint, value, onChange, rows = 4, required = false } = props
  const id = useId()
  return (
    <Labelled label={label} for={id} field={field} hint={hint}>
      <textarea
        id={id}
        rows={rows}
        required={required}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    </Labelled>
  )
}

export interface Option {
  readonly value: string
  readonly label: string
}

/** A labelled choice. A required one starts without an answer. */
export function SelectField(props: Told & { readonly options: readonly Option[]; readonly isRequired?: boolean }) {
  const id = useId()
  return (
    <Labelled label={props.label} for={id} field={props.field} hint={props.hint}>
      <select
        id={id}
        value={props.value}
        required={props.isRequired}
        onChange={(event) => props.onChange(event.currentTarget.value)}
      >
        {props.isRequired && <option value="">{t('choose…')}</option>}
        {props.options.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </Labelled>
  )
}
