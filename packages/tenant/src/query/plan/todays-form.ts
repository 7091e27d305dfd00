import { type Filter, type JsonObject, touches } from '@tildebase/nouns'
import { afterMigrations, since } from '../../engine/migrations.ts'
import type { ReadContext } from '../reader.ts'
import type { Scope } from './scope.ts'

/** What brings a state of the past into the form of today. */
type Form = (state: JsonObject) => JsonObject

/**
 * A row filter has the names and kinds of today: it reads the past as the migrations since would have left it. Null where
 * there were none, and for every other filter, which reads the past as it is shown.
 */
export function todaysForm({ reader, moment: { asOf }, type, narrowed }: Scope): Form | null {
  return narrowed || asOf === null ? null : formSince(reader, type, asOf)
}

/** The form of today for states that were recorded by an event; null where no migration came after it. */
export function formSince(reader: ReadContext, type: string, seq: number): Form | null {
  const migrations = since(reader.migrations?.(type) ?? [], seq)
  const noun = reader.nouns.get(type)
  return migrations.length === 0 || !noun ? null : (state) => afterMigrations(noun, migrations, state)
}

/** Whether a filter reads states that are not in the form of today: only memory brings them there. */
export function readsOtherForm(scope: Scope, filter: Filter): boolean {
  if (scope.narrowed || scope.moment.asOf === null) return false
  return [scope.type, ...touches(filter)].some((type) => todaysForm({ ...scope, type }) !== null)
}

/** The name at the moment of a scope of a field that a row filter names. */
export function nameThen({ reader, moment: { asOf }, type, narrowed }: Scope, field: string): string {
  if (narrowed || asOf === null) return field
  return since(reader.migrations?.(type) ?? [], asOf).reduceRight(
    (name, migration) => ('to' in migration && migration.to === name ? migration.from : name),
    field,
  )
}
