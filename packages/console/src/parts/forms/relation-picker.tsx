import type { Json } from '@tildebase/nouns'
import { useRef, useState } from 'preact/hooks'
import { keyId, mayChange, mayRead } from '../../service/access.ts'
import { useData, useSettled } from '../../service/cache.ts'
import { findByName, useNames } from '../../service/names.ts'
import { may } from '../../service/rights.ts'
import { nouns, titleOf } from '../../service/schema.ts'
import { sayDone, write } from '../../service/write.ts'
import { t } from '../../texts/text.ts'
import { sayError } from '../../toast.ts'
import { Combobox, type Option } from '../../ui/combobox.tsx'
import { Icon } from '../../ui/icon.tsx'
import { actorName } from '../../values/actors.ts'
import { type Draft, type Entity, idsOf, isEntity, typeOfId } from '../../values/entity.ts'
import { hasWords } from '../../values/format.ts'
import { isRequired, type Noun, singular, targetsOf, titleField } from '../../values/noun.ts'

const CREATE = '$create'

/** Chooses one entity, or several, by name. */
export function RelationPicker(props: {
  id?: string | undefined
  label?: string | undefined
  /** The types to choose from. People come first. */
  targets: readonly string[]
  many: boolean
  value: Json | undefined
  required?: boolean | undefined
  /** The entity that cannot be chosen. */
  except?: string | undefined
  /** The values of the form around it: what is created here gets the relations that it shares with them. */
  beside?: Draft | undefined
  onChange: (value: Json) => void
}) {
  const { many, value, onChange } = props
  const targets = props.targets.filter((target) => may('read', nouns.value.get(target))).sort(peopleFirst)
  // A name that is not there becomes an entity of the last type: people are invited, not created.
  const noun = nouns.value.get(targets.at(-1) ?? '')
  const [words, setWords] = useState<string | null>(null)
  const settled = useSettled(words, 150)
  const found = useData(
    ['picker', targets, settled],
    settled === null
      ? null
      : async (signal) => (await Promise.all(targets.map((target) => findByName(target, settled, signal)))).flat(),
    { types: targets },
  )
  const ids = idsOf(value)
  const known = new Map((Array.isArray(value) ? value : [value]).filter(isEntity).map((one) => [one.$id, one]))
  const names = useNames(ids.filter((id) => !known.has(id)))
  // A name that was just chosen is known before the service tells it.
  const chosen = useRef(new Map<string, string>())
  const nameOf = (id: string) =>
    known.has(id)
      ? titleOf(known.get(id)!, nouns.value.get(known.get(id)!.$type))
      : (names.get(id) ?? chosen.current.get(id) ?? unreadName(id))
  const isAnswered = words === settled && (found.error !== null || (found.value !== null && !found.isPrevious))
  const isPending = words !== null && !isAnswered
  const options = optionsOf(
    (found.value ?? []).filter(({ $id }) => $id !== props.except),
    noun,
    words ?? '',
    isPending,
  )
  const take = (id: string) => onChange(many ? [...ids.filter((one) => one !== id), id] : id)
  const select = (option: Option) => {
    if (option.value !== CREATE) {
      chosen.current.set(option.value, option.label)
      return take(option.value)
    }
    void create(noun!, words ?? '', props.beside ?? {}).then((made) => {
      if (!made) return
      chosen.current.set(made.$id, titleOf(made, noun))
      take(made.$id)
    })
  }
  const drop = (id: string) => {
    const rest = ids.filter((one) => one !== id)
    onChange(many && rest.length > 0 ? rest : null)
  }
  return (
    <div class="picker">
      {many &&
        ids.map((id) => (
          <span class="chip" key={id}>
            {nameOf(id)}
            <button
              type="button"
              class="quiet icon-only"
              aria-label={t('Remove {}', nameOf(id))}
              onClick={() => drop(id)}
            >
              <Icon name="close" />
            </button>
          </span>
        ))}
      <Combobox
        id={props.id}
        label={props.label}
        text={many || ids.length === 0 ? '' : nameOf(ids[0]!)}
        options={options}
        loading={isPending}
        required={props.required && ids.length === 0}
        placeholder={placeholderOf(targets)}
        onInput={setWords}
        onSelect={select}
        onClear={() => !many && onChange(null)}
      />
      {!many && ids.length > 0 && !props.required && (
        <button type="button" class="quiet icon-only" aria-label={t('Clear')} onClick={() => onChange(null)}>
          <Icon name="close" />
        </button>
      )}
    </div>
  )
}

/** What can be chosen. Until the answer is there, what was found before and has the words in its name. */
function optionsOf(entities: readonly Entity[], noun: Noun | undefined, words: string, isPending: boolean): Option[] {
  const options: Option[] = entities
    .map((entity) => {
      const own = nouns.value.get(entity.$type)
      const label = titleOf(entity, own)
      return {
        value: entity.$id,
        label: entity.$id === keyId() ? t('{} (you)', label) : label,
        hint: hintOf(entity, own),
      }
    })
    .filter(({ label }) => !isPending || hasWords(label, words))
  if (isPending) return options
  const isNew = words.trim() !== '' && !options.some(({ label }) => label.toLowerCase() === words.trim().toLowerCase())
  if (isNew && noun && canCreate(noun))
    options.push({ value: CREATE, label: t('Create “{}”', words.trim()), hint: t('new') })
  return options
}

/** What a name is until it is known. A person whose type cannot be read has the name that the page knows. */
function unreadName(id: string): string {
  return mayRead(typeOfId(id)) ? '…' : typeOfId(id) === 'User' ? actorName(id) : t('hidden')
}

function peopleFirst(a: string, b: string): number {
  return Number(b === 'User') - Number(a === 'User')
}

function placeholderOf(targets: readonly string[]): string {
  const noun = nouns.value.get(targets[0] ?? '')
  if (noun === undefined) return t('Find by name')
  if (noun.name === 'User') return t('Find a person')
  return t('Find {} {}', /^[aeiou]/.test(singular(noun)) ? t('an') : 'a', singular(noun))
}

/** What tells two entities of the same name apart. */
function hintOf(entity: Entity, noun: Noun | undefined): string | undefined {
  const title = titleField(noun ?? ({ fields: {} } as Noun))
  const field = ['email', 'domain', 'city', 'industry', 'title', noun?.stateField ?? 'status'].find(
    (name) => name !== title && typeof entity[name] === 'string',
  )
  return field === undefined ? undefined : String(entity[field])
}

/** A type whose only required field is its title can be created from a name. */
function canCreate(noun: Noun): boolean {
  const title = titleField(noun)
  const needed = Object.values(noun.fields).filter(isRequired)
  return (
    title !== null && mayChange(noun) && noun.verbs.create !== undefined && needed.every(({ name }) => name === title)
  )
}

async function create(noun: Noun, name: string, beside: Draft): Promise<Entity | null> {
  try {
    const body = { ...sharedRelations(noun, beside), [titleField(noun)!]: name.trim() }
    const { value, correlation } = await write<Entity>({ path: `/${noun.name}`, body, type: noun.name })
    sayDone(t('{} created.', name.trim()), correlation)
    return value
  } catch (reason) {
    sayError(reason)
    return null
  }
}

function sharedRelations(noun: Noun, beside: Draft): Draft {
  const shared = Object.entries(beside).flatMap(([name, value]) => {
    const field = noun.fields[name]
    const [id] = idsOf(value)
    const fits = field?.kind === 'forward' && !field.list && id !== undefined && targetsOf(field).includes(typeOfId(id))
    return fits ? [[name, id] as const] : []
  })
  return Object.fromEntries(shared)
}
