import type { Json } from '@tildebase/nouns'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useDraft } from '../../drafts.ts'
import { useKeys } from '../../keyboard.ts'
import { FieldInput } from '../../parts/forms/field-input.tsx'
import type { FormField } from '../../parts/forms/form.tsx'
import { saveFields } from '../../parts/forms/save.ts'
import { Value } from '../../parts/value.tsx'
import { t } from '../../texts/text.ts'
import { issuesOf, sayError } from '../../toast.ts'
import { InputNotes, Labelled, useFocusOnRefused } from '../../ui/basics.tsx'
import { Icon } from '../../ui/icon.tsx'
import { isNarrow } from '../../ui/narrow.ts'
import type { Draft, Entity } from '../../values/entity.ts'
import { labelOf } from '../../values/format.ts'
import { isEditable, type Noun } from '../../values/noun.ts'
import { rowDraft } from './row-draft.ts'

interface KeptRow {
  readonly base: Entity
  readonly changed: Draft
}

/** How far the edit of a row is. */
export type EditState = 'unchanged' | 'changed' | 'saving'

/** A row whose cells are inputs. */
export function EditRow(props: {
  noun: Noun
  columns: readonly string[]
  /** What a telephone shows below the title. */
  below: readonly string[]
  entity: Entity
  onState: (state: EditState) => void
  onCancel: () => void
  onSaved: () => void
}) {
  const { noun, columns } = props
  // The version that the edit began with: news of the row do not move it under the hands of its editor.
  const kept = useDraft<KeptRow>(rowDraft(noun, props.entity.$id), { base: props.entity, changed: {} }, isEmpty)
  const { base, changed: draft } = kept.draft
  const setField = (name: string, value: Json) =>
    kept.set((old) => ({ ...old, changed: { ...old.changed, [name]: value } }))
  const [error, setError] = useState<Error | null>(null)
  const issues = issuesOf(error)
  const row = useRef<HTMLTableRowElement>(null)
  useLayoutEffect(
    () => row.current?.querySelector<HTMLElement>('td:not(.select) :is(input, select, textarea)')?.focus(),
    [],
  )
  useFocusOnRefused(row, error)
  // With the drawing and not after it: the next key may leave the row.
  useLayoutEffect(
    () => props.onState(kept.isSaving ? 'saving' : isEmpty(kept.draft) ? 'unchanged' : 'changed'),
    [draft, kept.isSaving],
  )
  // A row that is being saved closes when it is, and can be left when it is not.
  const cancel = () => {
    if (!kept.isSaving) props.onCancel()
  }
  const save = () =>
    kept.save(async () => {
      try {
        if (Object.keys(draft).length > 0 && !(await saveFields(noun, base, draft))) return
        kept.forget()
        props.onSaved()
      } catch (reason) {
        setError(reason as Error)
        sayError(reason)
      }
    })
  useKeys({ 'mod+s': () => void save(), 'mod+Enter': () => void save(), Escape: cancel })
  const press = (event: KeyboardEvent) => {
    const isOwn = event.target instanceof HTMLTextAreaElement || event.target instanceof HTMLButtonElement
    if (event.key !== 'Enter' || isOwn) return
    event.preventDefault()
    void save()
  }
  const input = (name: string, field: FormField, label?: string) => (
    <FieldInput
      id={`edit-${name}`}
      {...(label && { label })}
      field={field}
      value={name in draft ? draft[name] : base[name]}
      onChange={(value) => setField(name, value)}
    />
  )
  const faultOf = (name: string) => issues.find((issue) => issue.field === name)?.message
  const buttons = (
    <div class="buttons">
      <button type="button" class="primary" aria-busy={kept.isSaving} onClick={() => void save()}>
        {t('Save')}
      </button>
      <button type="button" class="quiet icon-only" aria-label={t('Cancel')} onClick={cancel}>
        <Icon name="close" />
      </button>
    </div>
  )
  // A telephone has no room for inputs side by side, and shows more below the title.
  if (isNarrow.value)
    return (
      <tr class="editing" ref={row} onKeyDown={press}>
        <td class="edit-stack" colSpan={columns.length + 2}>
          {[...columns, ...props.below].map((name) => {
            const field = noun.fields[name]
            return (
              isEditable(noun, field) && (
                <Labelled key={name} label={labelOf(name)} for={`edit-${name}`} error={faultOf(name)}>
                  {input(name, field)}
                </Labelled>
              )
            )
          })}
          {buttons}
        </td>
      </tr>
    )
  return (
    <tr class="editing" ref={row} onKeyDown={press}>
      <td class="select" />
      {columns.map((name) => {
        const field = noun.fields[name]
        return (
          <td key={name}>
            {isEditable(noun, field) ? (
              <>
                {input(name, field, labelOf(name))}
                <InputNotes for={`edit-${name}`} error={faultOf(name)} />
              </>
            ) : (
              <Value value={base[name]} field={field} name={name} entity={base} />
            )}
          </td>
        )
      })}
      <td class="row-actions">{buttons}</td>
    </tr>
  )
}

function isEmpty({ changed }: KeptRow): boolean {
  return Object.keys(changed).length === 0
}
