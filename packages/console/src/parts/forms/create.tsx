import { newDraft } from '../../drafts.ts'
import { go } from '../../place.ts'
import { personId } from '../../service/access.ts'
import { titleOf } from '../../service/schema.ts'
import { sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import type { Draft, Entity } from '../../values/entity.ts'
import { currencyOf } from '../../values/format.ts'
import { forCreation, isWritable, type Noun, personFields, singular, titleField } from '../../values/noun.ts'
import { firstFields, isCounted } from './first-fields.ts'
import { FieldsForm } from './form.tsx'

/** A person owns what the person creates, unless the form says otherwise. */
function ownedBy(noun: Noun): Draft {
  const me = personId()
  return me !== null && personFields(noun).includes('owner') ? { owner: me } : {}
}

/** The fields that a workflow begins with. */
const WORKFLOW = ['name', 'description']

/** The form of a new entity: what is needed first, the other fields behind a button. */
export function CreateDialog(props: {
  noun: Noun
  /** What is known already, such as the entity that it is added to. */
  preset?: Draft
  onClose: () => void
  onCreated?: (made: Entity) => void
}) {
  const { noun, onClose } = props
  const preset = { ...ownedBy(noun), ...props.preset }
  const currency = noun.fields.currency?.kind === 'string' ? currencyOf(null) : null
  // After the name and the amount, which says little without it.
  const first = [...firstFields(noun).toSpliced(2, 0, 'currency'), ...Object.keys(preset)]
  const rank = (name: string) => (name === titleField(noun) ? -1 : first.includes(name) ? first.indexOf(name) : 99)
  const fields = Object.values(noun.fields)
    .filter(isWritable)
    // Steps and triggers are for the editor of the workflow, which opens next.
    .filter((field) => !isCounted(noun, field) && !(noun.name === 'Workflow' && !WORKFLOW.includes(field.name)))
    .map((field) => forCreation(noun, field))
    .map((field) => (field.kind !== 'forward' && field.default !== undefined ? { ...field, required: false } : field))
    .sort((a, b) => rank(a.name) - rank(b.name))
  const defaults = Object.fromEntries(
    fields.flatMap((field) =>
      field.kind === 'forward' || field.default === undefined || field.default === 'now'
        ? []
        : [[field.name, field.default]],
    ),
  )
  return (
    <Dialog title={t('New {}', singular(noun))} onClose={onClose}>
      <FieldsForm
        fields={fields}
        first={first}
        initial={{ ...defaults, ...(currency !== null && { currency }), ...preset }}
        draft={newDraft(noun, props.preset)}
        submit={t('Create')}
        onCancel={onClose}
        onSubmit={async (draft) => {
          const body = { ...(currency !== null && { currency }), ...preset, ...draft }
          const { value, correlation } = await write<Entity>({ path: `/${noun.name}`, body, type: noun.name })
          sayDone(t('{} created.', titleOf(value, noun)), correlation)
          props.onCreated?.(value)
          onClose()
          if (noun.name === 'Workflow') go([noun.name, value.$id])
        }}
      />
    </Dialog>
  )
}
