import { useState } from 'preact/hooks'
import { FieldsForm, keptBase } from '../parts/forms/form.tsx'
import { saveFields } from '../parts/forms/save.ts'
import { titleOf } from '../service/schema.ts'
import { t } from '../texts/text.ts'
import { Dialog } from '../ui/dialog.tsx'
import type { Entity } from '../values/entity.ts'
import { isEditable, type Noun } from '../values/noun.ts'

/** The name of the draft of an entity's form. */
export function editDraft(id: string): string {
  return `edit ${id}`
}

/** The form of all fields of an entity. */
export function EditDialog({ noun, entity, onClose }: { noun: Noun; entity: Entity; onClose: () => void }) {
  const draft = editDraft(entity.$id)
  const [base] = useState(() => keptBase(draft) ?? entity)
  const fields = Object.values(noun.fields).filter((field) => isEditable(noun, field))
  const initial = Object.fromEntries(fields.map(({ name }) => [name, base[name] ?? null]))
  return (
    <Dialog title={t('Edit {}', titleOf(base, noun))} onClose={onClose} size="wide">
      <FieldsForm
        fields={fields}
        initial={initial}
        draft={draft}
        base={base}
        submit={t('Save')}
        onCancel={onClose}
        onSubmit={async (changed) => {
          const isDone = Object.keys(changed).length === 0 || (await saveFields(noun, base, changed))
          if (isDone) onClose()
          return isDone
        }}
      />
    </Dialog>
  )
}
