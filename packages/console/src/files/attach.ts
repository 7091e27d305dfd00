import { asOf } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { sayError } from '../toast.ts'
import type { Entity } from '../values/entity.ts'
import { isWritable, type Noun } from '../values/noun.ts'

/** The fields of a type that people can put files into. */
export function fileFields(noun: Noun): readonly string[] {
  if (!mayChange(noun) || !noun.verbs.update || asOf.value !== null) return []
  return Object.values(noun.fields).flatMap((field) => (field.kind === 'file' && isWritable(field) ? field.name : []))
}

/** Sends files to an entity. People choose the field where there are several. */
export async function attach(noun: Noun, entity: Entity, files: readonly File[], field?: string): Promise<void> {
  if (files.length === 0) return
  try {
    const { sendOrAsk } = await import('./send.ts')
    sendOrAsk(noun, entity, files, field === undefined ? fileFields(noun) : [field])
  } catch (reason) {
    sayError(reason)
  }
}

/** Opens the browser’s window for choosing files, and sends them. */
export function chooseAndAttach(noun: Noun, entity: Entity, field?: string): void {
  const input = document.createElement('input')
  input.type = 'file'
  input.multiple = field === undefined ? fileFields(noun).some((name) => isList(noun, name)) : isList(noun, field)
  input.onchange = () => void attach(noun, entity, [...(input.files ?? [])], field)
  input.click()
}

export function isList(noun: Noun, field: string): boolean {
  return noun.fields[field]?.list === true
}
