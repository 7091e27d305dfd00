import { signal } from '@preact/signals'
import type { Verb } from '@tildebase/nouns'
import { go } from '../place.ts'
import { titleOf } from '../service/schema.ts'
import { isConflict, sayDone, write } from '../service/write.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import type { MenuItem } from '../ui/menu.tsx'
import { isMeta } from '../values/diff.ts'
import { type Draft, type Entity, idsOf } from '../values/entity.ts'
import { labelOf } from '../values/format.ts'
import { type Noun, verbsFor } from '../values/noun.ts'

interface Started {
  readonly noun: Noun
  readonly entity: Entity
  readonly verb: Verb
  readonly done: (ran: boolean) => void
}

/** The verb whose arguments are asked for. */
export const started = signal<Started | null>(null)

/** The items of a menu for an entity: the verbs that its state allows, and deleting it. */
export function verbItems(noun: Noun, entity: Entity, isAllowed: boolean): MenuItem[] {
  if (!isAllowed) return []
  const verbs: MenuItem[] = verbsFor(noun, entity).map((verb) => ({
    label: labelOf(verb.name),
    onSelect: () => runVerb(noun, entity, verb),
  }))
  return noun.verbs.delete
    ? [...verbs, { label: t('Delete'), icon: 'bin', danger: true, onSelect: () => remove(noun, entity) }]
    : verbs
}

/** Runs a verb on the version that is shown; asks for its arguments first, unless they are given. True when it ran. */
export function runVerb(noun: Noun, entity: Entity, verb: Verb, args?: Draft): Promise<boolean> {
  if (args || !verb.args?.length) return run(noun, entity, verb, args ?? {}).catch(failed)
  return new Promise((done) => {
    started.value = { noun, entity, verb, done }
  })
}

/** Ends the question for a verb's arguments. */
export function closeVerb(ran: boolean): void {
  const open = started.value
  started.value = null
  open?.done(ran)
}

/** Deletes the version that is shown. */
export async function remove(noun: Noun, entity: Entity): Promise<boolean> {
  try {
    const path = `/${noun.name}/${entity.$id}`
    const change = { method: 'DELETE', path, version: entity.$version, type: noun.name } as const
    const { correlation } = await write(change)
    sayDone(t('{} deleted.', titleOf(entity, noun)), correlation)
    return true
  } catch (reason) {
    return failed(reason)
  }
}

/** Runs a verb with its arguments and says so. */
export async function run(noun: Noun, entity: Entity, verb: Verb, args: Draft): Promise<boolean> {
  const path = `/${noun.name}/${entity.$id}/${verb.name}`
  const { value, correlation } = await write<Entity>({ path, body: args, version: entity.$version, type: noun.name })
  const done = [titleOf(entity, noun), labelOf(verb.event).toLowerCase()]
  // Some verbs write their event alone, for workflows and webhooks to act on.
  const isEventOnly = !verb.keeps && !verb.args?.length && hasSameFields(noun, entity, value)
  sayDone(
    isEventOnly ? t('{} {}. No field changed; workflows and webhooks get the event.', ...done) : t('{} {}.', ...done),
    correlation,
  )
  // What was merged is not there any more: the page shows what it became a part of.
  if (verb.name === 'merge' && typeof args.into === 'string') go([noun.name, args.into])
  return true
}

function hasSameFields(noun: Noun, before: Entity, after: Entity): boolean {
  const own = Object.values(noun.fields).filter(({ kind, name }) => kind !== 'back' && !isMeta(name))
  const plain = (entity: Entity, name: string) => {
    const isRelation = noun.fields[name]!.kind === 'forward'
    return JSON.stringify(isRelation ? idsOf(entity[name]) : (entity[name] ?? null))
  }
  return own.every(({ name }) => plain(before, name) === plain(after, name))
}

function failed(reason: unknown): false {
  if (isConflict(reason))
    say(t('It was changed in the meantime. The page shows it as it is now; decide again.'), { tone: 'bad' })
  else sayError(reason)
  return false
}
