import { signal } from '@preact/signals'
import { ask } from '../api.ts'
import { labelOf } from '../format.ts'
import { type Entity, type Field, type Noun, titleOf, type Verb, verbsFor } from '../schema.ts'
import { Act, Dialog } from './basics.tsx'
import { type Draft, FieldsForm } from './form.tsx'
import { say, sayError } from './notes.tsx'

interface Asked {
  readonly noun: Noun
  readonly entity: Entity
  readonly verb: Verb
  readonly onDone: (after: Entity) => void
}

const asked = signal<Asked | null>(null)

/** A button for each verb that the entity may run from its state. */
export function VerbButtons({ noun, entity, onDone }: Omit<Asked, 'verb'>) {
  return (
    <>
      {verbsFor(noun, entity).map((verb) => (
        <Act key={verb.name} class="verb" onRun={() => start({ noun, entity, verb, onDone })}>
          {labelOf(verb.name)}
        </Act>
      ))}
    </>
  )
}

/** The window that asks for a verb's arguments, when one was started that takes some. */
export function VerbDialog() {
  const open = asked.value
  if (!open) return null
  const { noun, verb, entity } = open
  const close = () => {
    asked.value = null
  }
  return (
    <Dialog title={`${labelOf(verb.name)} ${titleOf(entity, noun)}`} onClose={close}>
      <FieldsForm
        fields={(verb.args ?? []).map((name) => argument(noun, name))}
        initial={{}}
        submit={labelOf(verb.name)}
        onCancel={close}
        onSubmit={async (args) => {
          await run(open, args)
          close()
        }}
      />
    </Dialog>
  )
}

async function start(wanted: Asked): Promise<void> {
  if (wanted.verb.args?.length) {
    asked.value = wanted
    return
  }
  await run(wanted, {}).catch(sayError)
}

async function run({ noun, entity, verb, onDone }: Asked, args: Draft): Promise<void> {
  const after = await ask<Entity>('POST', `/${noun.name}/${entity.$id}/${verb.name}`, { body: args })
  say(`${titleOf(entity, noun)} ${labelOf(verb.event).toLowerCase()}.`)
  onDone(after)
}

/** An argument is input as the field of its name would be. It may always be left out. */
function argument(noun: Noun, name: string): Field {
  const field = noun.fields[name]
  if (field && field.kind !== 'back') return { ...field, required: false, service: false }
  return { name, kind: 'string', list: false }
}
