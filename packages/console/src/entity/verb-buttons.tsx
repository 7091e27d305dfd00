import type { Verb } from '@tildebase/nouns'
import { runVerb } from '../parts/verbs.tsx'
import { t } from '../texts/text.ts'
import { Act } from '../ui/basics.tsx'
import type { MenuItem } from '../ui/menu.tsx'
import { isNarrow } from '../ui/narrow.ts'
import type { Entity } from '../values/entity.ts'
import { labelOf } from '../values/format.ts'
import { type Noun, singular, verbsFor, wordsOf } from '../values/noun.ts'

const MOST_BUTTONS = 3
/** So many letters of two buttons fit into a row of a telephone, beside the other buttons. */
const ROOM = 20

/** Buttons for the first verbs that the state allows. The others are in the menu beside them. */
export function VerbButtons({ noun, entity }: { noun: Noun; entity: Entity }) {
  return (
    <>
      {firstVerbs(noun, entity).map((verb) => (
        <Act key={verb.name} onRun={() => runVerb(noun, entity, verb)}>
          {buttonText(noun, verb)}
        </Act>
      ))}
    </>
  )
}

/** The verbs that the state allows and that have no button. */
export function furtherVerbs(noun: Noun, entity: Entity): MenuItem[] {
  const rest = rankedVerbs(noun, entity).slice(firstVerbs(noun, entity).length)
  return rest.map((verb) => ({ label: buttonText(noun, verb), onSelect: () => runVerb(noun, entity, verb) }))
}

/** The verbs that are buttons: as many as fit into one row. */
function firstVerbs(noun: Noun, entity: Entity): Verb[] {
  const ranked = rankedVerbs(noun, entity)
  if (!isNarrow.value) return ranked.slice(0, MOST_BUTTONS)
  const two = ranked.slice(0, 2)
  const letters = two.map((verb) => buttonText(noun, verb)).join('').length
  return letters > ROOM ? two.slice(0, 1) : two
}

/** A verb as a button says it: `Close` alone would be read as closing the page. */
function buttonText(noun: Noun, { name }: Verb): string {
  return name === 'close' ? t('Close the {}', singular(noun)) : labelOf(name)
}

/** What moves the entity on comes first. */
function rankedVerbs(noun: Noun, entity: Entity): Verb[] {
  return [...verbsFor(noun, entity)].sort((a, b) => rankOf(noun, entity, a) - rankOf(noun, entity, b))
}

/** How near a verb moves an entity on: first to its next state, then to later ones, then back, then what moves nothing. */
function rankOf(noun: Noun, entity: Entity, verb: Verb): number {
  const state = noun.stateField === null ? undefined : verb.set?.[noun.stateField]
  if (noun.stateField === null || state === undefined) return 1_000
  if (state === '$next') return 0
  const words = wordsOf(noun.fields[noun.stateField])
  const steps = words.indexOf(String(state)) - words.indexOf(String(entity[noun.stateField]))
  return steps > 0 ? steps : 500 - steps
}
