import { article, type JsonObject, type Noun } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, may } from '../../grant/grant.ts'
import { eventsOf, sameWord } from '../events/emitted.ts'

/** An event type that agents can subscribe to. */
export interface EventType extends JsonObject {
  readonly name: string
  readonly description: string
  readonly delivery: readonly string[]
  readonly inputSchema: JsonObject
  readonly payloadSchema: JsonObject
}

/** The event types that a grant may read, in the order of their names. */
export function eventTypes(engine: Engine, grant: Grant): EventType[] {
  const readable = engine.nouns.all.filter((noun) => may(grant, 'read', noun))
  const types = readable.flatMap((noun) => eventsOf(noun).map((event) => typeOf(noun, event)))
  return types.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** The noun and the event of a name, in the spelling of the type, or null. */
export function eventNamed(engine: Engine, name: string): { readonly noun: Noun; readonly name: string } | null {
  const [type = '', event = '', ...rest] = name.split('.')
  const noun = rest.length === 0 ? engine.nouns.named(type) : undefined
  const known = noun && eventsOf(noun).find((one) => sameWord(one, event))
  return noun && known !== undefined ? { noun, name: `${noun.name}.${known}` } : null
}

function typeOf({ name }: Noun, event: string): EventType {
  return {
    name: `${name}.${event}`,
    description: `Sent after ${article(name)} was ${event}.`,
    delivery: ['webhook'],
    inputSchema: {
      type: 'object',
      properties: {
        filter: { type: 'object', description: `A filter in the query language over the fields of ${name}.` },
      },
      additionalProperties: false,
    },
    payloadSchema: {
      type: 'object',
      description: `The ${name} after the event.`,
      properties: { $id: { type: 'string' }, $type: { const: name }, $version: { type: 'integer' } },
      required: ['$id', '$type', '$version'],
    },
  }
}
