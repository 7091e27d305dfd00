import { didYouMean, listed, type Noun, type Nouns, nearest, quoted } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import type { UnknownField } from '../../query/parameters/unknown-names.ts'
import { numbersAnyCase } from '../../store/names.ts'

/** Events that come without a verb of their type: the service itself writes them. */
const OF_THE_SERVICE: { readonly [type: string]: readonly string[] } = {
  Agent: ['answered', 'failed'],
  ApiKey: ['expired'],
  Changeset: ['proposed', 'expired', 'redacted'],
  Comment: ['mentioned'],
  Goal: ['achieved'],
  Integration: ['synced', 'failed'],
  Webhook: ['rotated', 'failing', 'recovered', 'suspended'],
  Workflow: ['succeeded', 'failed', 'cancelled', 'paused', 'answered'],
}
const OF_EVERY_TYPE = ['conflicted', 'erased']
/** A changeset is not created but proposed. */
const NEVER: { readonly [type: string]: readonly string[] } = { Changeset: ['created'] }

/** Why no event can match a pattern, such as `Contact.qualifed`; null if one can. A type that is not known may come later. */
export function neverEmitted(nouns: Nouns, pattern: string): string | null {
  const [type = '', name = '*'] = pattern.split('.')
  if (name === '*') return null
  if (type === '*') {
    const known = [...new Set(nouns.all.flatMap(eventsOf))]
    return has(known, name) ? null : `no type has an event ${name}${didYouMean(name, known)}`
  }
  const noun = nouns.named(type)
  if (!noun || has(eventsOf(noun), name)) return null
  const events = eventsOf(noun)
  return `${noun.name} has no event ${name}${didYouMean(name, events) || `; it has ${listed(events, 'and')}`}`
}

/** The patterns whose type or event neither a type nor the log knows: no event matches them. */
export function unknownPatterns({ nouns, sql }: Engine, patterns: readonly string[]): UnknownField[] {
  const isStored = (name: string) => numbersAnyCase(sql, name).length > 0
  return patterns.flatMap((pattern) => {
    const [type = '', name = '*'] = pattern.split('.')
    const noun = nouns.named(type)
    if (type !== '*' && !noun) {
      if (isStored(type)) return []
      const near = nearest(
        type,
        nouns.all.map((one) => one.name),
        1,
      )[0]
      return [{ field: quoted(`type: ${pattern}`), nearest: near === undefined ? null : pattern.replace(type, near) }]
    }
    const events = noun ? eventsOf(noun) : nouns.all.flatMap(eventsOf)
    // The log also knows the names of verbs: `create` is the verb of `created`.
    const isVerb = noun !== undefined && Object.keys(noun.verbs).some((verb) => sameWord(verb, name))
    if (name === '*' || has(events, name) || (isStored(name) && !isVerb)) return []
    const near = nearest(name, new Set(events), 1)[0]
    return [{ field: quoted(`type: ${pattern}`), nearest: near === undefined ? null : `${type}.${near}` }]
  })
}

/** The names of all events of a type. */
export function eventsOf({ name, verbs }: Noun): string[] {
  const own = Object.values(verbs).map(({ event }) => event)
  const events = [...new Set([...own, ...(OF_THE_SERVICE[name] ?? []), ...OF_EVERY_TYPE])]
  return events.filter((event) => !NEVER[name]?.includes(event))
}

function has(events: readonly string[], name: string): boolean {
  return events.some((event) => sameWord(event, name))
}

/** Whether two words are the same but for their case. */
export function sameWord(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}
