import type { Verb } from '@tildebase/nouns'
import { titleOf } from '../../service/schema.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { labelOf } from '../../values/format.ts'
import type { Noun } from '../../values/noun.ts'
import { closeVerb, run, started } from '../verbs.tsx'
import { FieldsForm, type FormField } from './form.tsx'

/** The window that asks for a verb's arguments. */
export function VerbDialog() {
  const open = started.value
  if (!open) return null
  const { noun, verb, entity } = open
  return (
    <Dialog title={`${labelOf(verb.name)} ${titleOf(entity, noun)}`} onClose={() => closeVerb(false)}>
      <FieldsForm
        fields={(verb.args ?? []).map((name) => argument(noun, verb, name))}
        initial={{}}
        except={verb.name === 'merge' ? entity.$id : undefined}
        draft={`${verb.name} ${entity.$id}`}
        submit={labelOf(verb.name)}
        onCancel={() => closeVerb(false)}
        onSubmit={async (args) => closeVerb(await run(noun, entity, verb, args))}
      />
    </Dialog>
  )
}

/** An argument is entered as the field of its name would be. It may always be left out. */
export function argument(noun: Noun, verb: Verb, name: string): FormField {
  // A merge goes into another entity of the same type.
  if (verb.name === 'merge' && name === 'into')
    return { name, kind: 'forward', target: noun.name, list: false, required: true }
  const field = noun.fields[name]
  if (field && field.kind !== 'back') {
    return field.kind === 'forward' ? { ...field, required: false } : { ...field, required: false, service: false }
  }
  return { name, kind: 'string', list: false, required: false, index: 'none', service: false }
}
