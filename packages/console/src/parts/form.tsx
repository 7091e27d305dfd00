import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Refusal } from '../api.ts'
import { labelOf } from '../format.ts'
import { useKeys } from '../keyboard.ts'
import type { Field, Json } from '../schema.ts'
import { Labelled, Trouble } from './basics.tsx'
import { FieldInput } from './field-input.tsx'

export type Draft = { readonly [field: string]: Json }

/** A form of fields. It gives what was changed, and shows what the service finds wrong beside the field it is about. */
export function FieldsForm(props: {
  fields: readonly Field[]
  initial: Draft
  submit: string
  onSubmit: (changed: Draft) => Promise<unknown>
  onCancel: () => void
  children?: ComponentChildren
}) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [changed, setChanged] = useState<Draft>({})
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  const save = async () => {
    if (busy || !form.current?.reportValidity()) return
    setBusy(true)
    try {
      await props.onSubmit(changed)
    } catch (reason) {
      setError(reason as Error)
    }
    setBusy(false)
  }
  useKeys({ 'mod+s': () => void save(), Escape: props.onCancel })
  const issues = error instanceof Refusal ? error.details : []
  return (
    <form
      class="fields-form"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div class="form-grid">
        {props.fields.map((field) => (
          <Labelled
            key={field.name}
            for={`${id}-${field.name}`}
            label={
              <>
                {labelOf(field.name)}
                {field.required && <span class="required"> required</span>}
              </>
            }
            error={issues.find((issue) => issue.field === field.name)?.message}
          >
            <FieldInput
              id={`${id}-${field.name}`}
              field={field}
              value={field.name in changed ? changed[field.name] : props.initial[field.name]}
              onChange={(value) => setChanged((old) => ({ ...old, [field.name]: value }))}
            />
          </Labelled>
        ))}
      </div>
      {props.children}
      <Trouble error={error} />
      <footer>
        <button type="submit" class="primary" disabled={busy} aria-busy={busy}>
          {props.submit} <kbd>Ctrl S</kbd>
        </button>
        <button type="button" onClick={props.onCancel}>
          Cancel
        </button>
      </footer>
    </form>
  )
}
