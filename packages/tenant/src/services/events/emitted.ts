import { didYouMean, listed, type Noun, type Nouns } from '@tildebase/nouns'

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
export function neverEmitted({ all }: Nouns, pattern: string): string | null {
  const [type = '', name = '*'] = pattern.split('.')
  if (name === '*') return null
  if (type === '*') {
    const known = [...new Set(all.flatMap(eventsOf))]
    return has(known, name) ? null : `no type has an event ${name}${didYouMean(name, known)}`
  }
  const noun = all.find((one) => one.name.toLowerCase() === type.toLowerCase())
  if (!noun || has(eventsOf(noun), name)) return null
  const events = eventsOf(noun)
  return `${noun.name} has no event ${name}${didYouMean(name, events) || `; it has ${listed(events, 'and')}`}`
}

/** The names of all events of a type. */
export function eventsOf({ name, verbs }: Noun): string[] {
  const own = Object.values(verbs).map(({ event }) => event)
  const events = [...new Set([...own, ...(OF_THE_SERVICE[name] ?? []), ...OF_EVERY_TYPE])]
  return events.filter((event) => !NEVER[name]?.includes(event))
}

function has(events: readonly string[], name: string): boolean {
  return events.some((event) => event.toLowerCase() === name.toLowerCase())
}
