import type { Json } from '@tildebase/nouns'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useDraft } from '../../drafts.ts'
import { useKeys } from '../../keyboard.ts'
import { t } from '../../texts/text.ts'
import { issuesOf, sayError } from '../../toast.ts'
import { InputNotes, useFocusOnRefused } from '../../ui/basics.tsx'
import { confirmDiscard } from '../../ui/dialog.tsx'
import { Icon } from '../../ui/icon.tsx'
import type { Entity } from '../../values/entity.ts'
import { labelOf } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { FieldInput } from './field-input.tsx'
import type { FormField } from './form.tsx'
import { saveFields } from './save.ts'

interface KeptFact {
  readonly base: Entity
  readonly value: Json | undefined
}

/** The name of the draft of one field. */
export function factDraft(entity: Entity, name: string): string {
  return `field ${entity.$id} ${name}`
}

/** The input of one field. Enter and a choice save, Escape leaves. */
export function InPlace(props: { noun: Noun; entity: Entity; field: FormField; onDone: () => void }) {
  const { noun, field } = props
  const kept = useDraft<KeptFact>(
    factDraft(props.entity, field.name),
    { base: props.entity, value: props.entity[field.name] },
    ({ base, value }) => value === base[field.name],
  )
  const { base, value } = kept.draft
  const box = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => box.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), [])
  const [error, setError] = useState<Error | null>(null)
  const issue = issuesOf(error).find((one) => one.field === field.name)
  useFocusOnRefused(box, error)
  const done = () => {
    kept.forget()
    props.onDone()
  }
  const save = (next: Json | undefined) =>
    kept.save(async () => {
      try {
        if (next === base[field.name] || (await saveFields(noun, base, { [field.name]: next ?? null }))) done()
      } catch (reason) {
        setError(reason as Error)
        sayError(reason)
      }
    })
  const leave = async () => {
    if (kept.isSaving) return
    if (value === base[field.name] || (await confirmDiscard())) done()
  }
  useKeys({ Escape: () => void leave(), 'mod+s': () => void save(value) })
  const isChoice = field.kind === 'enum' || field.kind === 'boolean' || (field.kind === 'forward' && !field.list)
  const change = (next: Json) => {
    kept.set({ base, value: next })
    if (isChoice && !field.list) void save(next)
  }
  return (
    <form
      ref={box}
      class="in-place"
      onSubmit={(event) => {
        event.preventDefault()
        void save(value)
      }}
    >
      <FieldInput id={`fact-${field.name}`} label={labelOf(field.name)} field={field} value={value} onChange={change} />
      <InputNotes for={`fact-${field.name}`} error={issue?.message} />
      {!isChoice && (
        <button type="submit" class="primary icon-only" aria-label={t('Save')} aria-busy={kept.isSaving}>
          <Icon name="check" />
        </button>
      )}
      <button type="button" class="quiet icon-only" aria-label={t('Cancel')} onClick={() => void leave()}>
        <Icon name="close" />
      </button>
    </form>
  )
}
