import { ask } from '../api.ts'
import { labelOf } from '../format.ts'
import { type Entity, type Noun, titleField, titleOf, writable } from '../schema.ts'
import { Dialog } from './basics.tsx'
import { FieldsForm } from './form.tsx'
import { say } from './notes.tsx'

/** The form of a new entity, made from its noun. */
export function CreateDialog({ noun, onClose, onCreated }: { noun: Noun; onClose: () => void; onCreated: () => void }) {
  const title = titleField(noun)
  const rank = ({ name, required }: { name: string; required?: boolean }) => (name === title ? 0 : required ? 1 : 2)
  const fields = [...writable(noun)].sort((a, b) => rank(a) - rank(b))
  const defaults = Object.fromEntries(
    fields
      .filter((field) => field.default !== undefined && field.default !== 'now')
      .map(({ name, default: value }) => [name, value ?? null]),
  )
  return (
    <Dialog title={`New ${labelOf(noun.name).toLowerCase()}`} onClose={onClose} wide>
      <FieldsForm
        fields={fields.map((field) => (field.default === 'now' ? { ...field, required: false } : field))}
        initial={defaults}
        submit="Create"
        onCancel={onClose}
        onSubmit={async (draft) => {
          const made = await ask<Entity>('POST', `/${noun.name}`, {
            body: draft,
            headers: { 'idempotency-key': crypto.randomUUID() },
          })
          say(`${titleOf(made, noun)} created.`)
          onCreated()
          onClose()
        }}
      />
    </Dialog>
  )
}
