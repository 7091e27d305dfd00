import type { Field } from '@tildebase/nouns'
import type { ComponentChildren } from 'preact'
import { useContext, useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keptDraft, useDraft } from '../../drafts.ts'
import { useKeys } from '../../keyboard.ts'
import { connected } from '../../service/live.ts'
import { isUnreachable } from '../../service/service.ts'
import { t } from '../../texts/text.ts'
import { issuesOf } from '../../toast.ts'
import { Labelled, useFocusOnRefused } from '../../ui/basics.tsx'
import { confirmDiscard, LeaveGuard } from '../../ui/dialog.tsx'
import { useUnsaid } from '../../ui/form-dialog.tsx'
import { Failure } from '../../ui/states.tsx'
import { takeTyped } from '../../ui/typing-ahead.tsx'
import type { Draft, Entity } from '../../values/entity.ts'
import { labelOf } from '../../values/format.ts'
import { FieldInput, isLongText } from './field-input.tsx'

export type FormField = Exclude<Field, { kind: 'back' }>

interface KeptForm {
  readonly changed: Draft
  readonly base?: Entity | undefined
}

/** The entity as it was when a kept form about it was begun; null when none is kept. */
export function keptBase(draft: string): Entity | null {
  return keptDraft<KeptForm>(draft)?.base ?? null
}

/** A form of fields. It gives what was changed, and shows each fault next to its field. */
export function FieldsForm(props: {
  fields: readonly FormField[]
  /** The names of the fields to show at first; the others are behind a button. All of them when left out. */
  first?: readonly string[]
  initial: Draft
  /** The name under which unsaved input survives a reload. */
  draft?: string
  /** What the input is about, kept with it: see `keptBase`. */
  base?: Entity
  /** The entity that relations do not offer. */
  except?: string | undefined
  submit: string
  /** Resolves when the form is done, or to false when it is not; a thrown Problem is shown in the form. */
  onSubmit: (changed: Draft) => Promise<unknown>
  onCancel: () => void
  children?: ComponentChildren
}) {
  const id = useId()
  const form = useRef<HTMLFormElement>(null)
  const [error, setError] = useState<Error | null>(null)
  const { base } = props
  const kept = useDraft<KeptForm>(props.draft ?? null, { changed: {}, base }, (form) => isEmpty(form.changed))
  const { changed } = kept.draft
  const [all, setAll] = useState(props.first === undefined)
  const save = async () => {
    if (!form.current?.reportValidity()) return
    await kept.save(async () => {
      try {
        if ((await props.onSubmit(changed)) !== false) kept.forget()
      } catch (reason) {
        setError(reason as Error)
        const wrong = issuesOf(reason).some(({ field }) => field && props.first && !props.first.includes(field))
        if (wrong) setAll(true)
      }
    })
  }
  const leave = async () => {
    // It ends when it is saved, and can be left when it is not.
    if (kept.isSaving) return
    if (!isEmpty(changed) && !(await confirmDiscard())) return
    kept.forget()
    props.onCancel()
  }
  const guard = useContext(LeaveGuard)
  // With the drawing and not after it: Escape may come in between.
  useLayoutEffect(() => {
    if (guard) guard.current = () => void leave()
  })
  useKeys({ 'mod+s': () => void save(), Escape: () => void leave() })
  useEffect(() => {
    if (connected.value && isUnreachable(error)) setError(null)
  }, [connected.value])
  useFocusOnRefused(form, error)
  const unsaid = useUnsaid(form, error)
  const issues = issuesOf(error)
  const shown = all ? props.fields : props.fields.filter(({ name }) => props.first!.includes(name) || name in changed)
  useLayoutEffect(() => {
    const text = takeTyped()
    const [field] = shown
    if (text === '' || field?.kind !== 'string' || field.name in { ...props.initial, ...changed }) return
    kept.set((form) => ({ ...form, changed: { ...form.changed, [field.name]: text } }))
  }, [])
  const hidden = props.fields.length - shown.length
  return (
    <form
      class="fields-form"
      ref={form}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      {groupsOf(shown).map(({ title, fields }) => (
        <FieldGroup key={title} title={title}>
          {fields.map((field, at) => (
            <Labelled
              key={field.name}
              for={`${id}-${field.name}`}
              wide={at === 0 && title === '' && field.required}
              label={
                <>
                  {labelOf(field.name)}
                  {field.required && <span class="required"> {t('required')}</span>}
                </>
              }
              error={issues.find((issue) => issue.field === field.name)?.message}
            >
              <FieldInput
                id={`${id}-${field.name}`}
                field={field}
                except={props.except}
                beside={{ ...props.initial, ...changed }}
                value={field.name in changed ? changed[field.name] : props.initial[field.name]}
                onChange={(value) => kept.set((old) => ({ ...old, changed: { ...old.changed, [field.name]: value } }))}
              />
            </Labelled>
          ))}
        </FieldGroup>
      ))}
      {hidden > 0 && (
        <button type="button" class="quiet more-fields" aria-expanded={false} onClick={() => setAll(true)}>
          {t('Show {} more {}', hidden, hidden === 1 ? t('field') : t('fields'))}
        </button>
      )}
      {props.children}
      <Failure error={unsaid} />
      <footer>
        <button type="submit" class="primary" aria-busy={kept.isSaving}>
          {props.submit} <kbd>Ctrl S</kbd>
        </button>
        <button type="button" onClick={() => void leave()}>
          {t('Cancel')}
        </button>
      </footer>
    </form>
  )
}

/** So many fields need no groups. */
const FEW = 8

/** The fields of a form: what is short, relations, and long texts, so that rows are even. */
function groupsOf(fields: readonly FormField[]): { readonly title: string; readonly fields: readonly FormField[] }[] {
  if (fields.length <= FEW) return [{ title: '', fields }]
  const isRelation = ({ kind }: FormField) => kind === 'forward'
  const isOther = (field: FormField) => isRelation(field) || isLongText(field)
  const groups = [
    { title: '', fields: fields.filter((field) => !isOther(field)) },
    { title: t('Connections'), fields: fields.filter(isRelation) },
    { title: t('Texts'), fields: fields.filter(isLongText) },
  ]
  return groups.filter((group) => group.fields.length > 0)
}

function FieldGroup({ title, children }: { title: string; children: ComponentChildren }) {
  if (title === '') return <div class="form-grid">{children}</div>
  return (
    <fieldset class="field-group">
      <legend>{title}</legend>
      <div class="form-grid">{children}</div>
    </fieldset>
  )
}

function isEmpty(draft: Draft): boolean {
  return Object.keys(draft).length === 0
}
