import type { Field, Verb } from '@tildebase/nouns'
import { titleOf } from '../../service/schema.ts'
import { t } from '../../texts/text.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { type Draft, type Entity, idsOf } from '../../values/entity.ts'
import { labelOf } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { closeVerb, run, started } from '../verbs.tsx'
import { FieldsForm, type FormField } from './form.tsx'

/** The window that asks for a verb's arguments. */
export function VerbDialog({ onClose }: { onClose: () => void }) {
  const open = started.value
  if (!open) return null
  const { noun, verb, entity } = open
  const initial = ownRelations(noun, verb, entity)
  return (
    <Dialog title={t('{} {}', labelOf(verb.name), titleOf(entity, noun))} onClose={onClose}>
      <FieldsForm
        fields={(verb.args ?? []).map((name) => argument(noun, verb, name))}
        initial={initial}
        except={verb.name === 'merge' ? entity.$id : undefined}
        draft={`${verb.name} ${entity.$id}`}
        submit={labelOf(verb.name)}
        onCancel={onClose}
        onSubmit={async (args) => closeVerb(await run(noun, entity, verb, { ...initial, ...args }))}
      />
    </Dialog>
  )
}

/** An argument is entered as the field of its name would be. It may always be left out. */
export function argument(noun: Noun, verb: Verb, name: string): FormField {
  // A merge goes into another entity of the same type.
  if (verb.name === 'merge' && name === 'into')
    return { name, kind: 'forward', target: noun.name, list: false, required: true }
  const field = fieldOf(noun, verb, name)
  if (field && field.kind !== 'back') {
    return field.kind === 'forward'
      ? { ...field, name, required: false }
      : { ...field, name, required: false, service: false }
  }
  return { name, kind: 'string', list: false, required: false, index: 'none', service: false }
}

/** The field that an argument is about: the one of its name, or the one that the verb sets to it. */
function fieldOf(noun: Noun, verb: Verb, name: string): Field | undefined {
  const set = Object.entries(verb.set ?? {}).find(([, value]) => value === `$args.${name}`)
  return noun.fields[name] ?? noun.fields[set?.[0] ?? '']
}

/** What the entity is related to already: the window begins with it. */
function ownRelations(noun: Noun, verb: Verb, entity: Entity): Draft {
  const relations = (verb.args ?? []).filter((name) => noun.fields[name]?.kind === 'forward')
  return Object.fromEntries(
    relations.flatMap((name) =>
      idsOf(entity[name])
        .slice(0, 1)
        .map((id) => [name, id]),
    ),
  )
}
