import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { keptDrafts } from '../drafts.ts'
import { fileFields } from '../files/attach.ts'
import { FileFact } from '../files/file-fact.tsx'
import { factDraft, InPlace } from '../parts/forms/in-place.tsx'
import { Value } from '../parts/value.tsx'
import { mayChange } from '../service/access.ts'
import { isDeclared } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Icon } from '../ui/icon.tsx'
import type { Entity } from '../values/entity.ts'
import { inSentence, labelOf } from '../values/format.ts'
import { isEditable, type Noun, personFields } from '../values/noun.ts'

/** The fields of an entity, each edited in place. Empty ones are behind a button. */
export function Facts(props: { noun: Noun; entity: Entity; omit?: readonly string[] }) {
  const { noun, entity, omit = [] } = props
  const [all, setAll] = useState(false)
  const [editing, setEditing] = useState<string | null>(() => keptDrafts(factDraft(entity, ''))[0] ?? null)
  const declared = Object.values(noun.fields)
    .filter(({ kind }) => kind !== 'back' && kind !== 'secret')
    .map(({ name }) => name)
  const others = Object.keys(entity).filter(
    (name) => !isDeclared(noun.name, name) && !name.startsWith('$') && !/^(created|updated)At$/.test(name),
  )
  const isEmpty = (name: string) => entity[name] === undefined || entity[name] === null || entity[name] === ''
  const names = [...declared, ...others].filter((name) => !omit.includes(name))
  const writes = mayChange(noun) && noun.verbs.update !== undefined
  // Files are dropped on a field, also on an empty one. Whose work it is and when it is due is set most often.
  const kept = [...fileFields(noun), ...(writes ? [...personFields(noun), ...declared.filter(isDue)] : [])]
  const empty = names.filter((name) => isEmpty(name) && !kept.includes(name))
  const shown = all ? names : names.filter((name) => !empty.includes(name) || name === editing)
  return (
    <section class="panel facts" aria-labelledby="facts-title">
      <h2 id="facts-title">{t('Fields')}</h2>
      <dl>
        {shown.map((name) => (
          <Fact
            key={name}
            noun={noun}
            entity={entity}
            name={name}
            writes={writes}
            isEditing={editing === name}
            onEdit={(is) => setEditing(is ? name : null)}
          />
        ))}
      </dl>
      {empty.length > 0 && (
        <button type="button" class="quiet" aria-expanded={all} onClick={() => setAll(!all)}>
          {all
            ? t('Hide empty fields')
            : t('Show {} empty {}', empty.length, empty.length === 1 ? t('field') : t('fields'))}
        </button>
      )}
    </section>
  )
}

function Fact(props: {
  noun: Noun
  entity: Entity
  name: string
  writes: boolean
  isEditing: boolean
  onEdit: (isEditing: boolean) => void
}) {
  const { noun, entity, name } = props
  const field = noun.fields[name]
  const button = useRef<HTMLButtonElement>(null)
  const wasEditing = useRef(false)
  // With the drawing and not after it: a key may have moved the focus by then.
  useLayoutEffect(() => {
    if (wasEditing.current && !props.isEditing) button.current?.focus()
    wasEditing.current = props.isEditing
  }, [props.isEditing])
  const canEdit = props.writes && isEditable(noun, field)
  return (
    <div>
      <dt>{labelOf(name)}</dt>
      {field?.kind === 'file' ? (
        <FileFact noun={noun} entity={entity} name={name} />
      ) : props.isEditing && isEditable(noun, field) ? (
        <dd>
          <InPlace noun={noun} entity={entity} field={field} onDone={() => props.onEdit(false)} />
        </dd>
      ) : (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the button beside it does the same for the keyboard
        <dd
          class={canEdit ? 'editable' : ''}
          onClick={(event) => canEdit && isBare(event.target) && props.onEdit(true)}
        >
          <Value value={entity[name]} field={field} name={name} entity={entity} />
          {canEdit && (
            <button
              ref={button}
              type="button"
              class="quiet icon-only edit-fact"
              aria-label={t('Edit {}', inSentence(name))}
              onClick={() => props.onEdit(true)}
            >
              <Icon name="edit" />
            </button>
          )}
        </dd>
      )}
    </div>
  )
}

function isDue(name: string): boolean {
  return /^due(At|Date)$/.test(name)
}

/** Whether a click is on a value, and not on a link in it or the end of marking its text. */
function isBare(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('a, button') === null && String(getSelection()) === ''
}
