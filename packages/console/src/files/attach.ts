import { asOf } from '../place.ts'
import { mayChange } from '../service/access.ts'
import { t } from '../texts/text.ts'
import { say, sayError } from '../toast.ts'
import type { Entity } from '../values/entity.ts'
import { isWritable, type Noun, singular } from '../values/noun.ts'
import { attaching } from './state.ts'

/** The fields of a type that people can put files into. */
export function fileFields(noun: Noun): readonly string[] {
  if (!mayChange(noun) || !noun.verbs.update || asOf.value !== null) return []
  return Object.values(noun.fields).flatMap((field) => (field.kind === 'file' && isWritable(field) ? field.name : []))
}

/** Sends files to an entity. People choose the field where there are several. */
export async function attach(noun: Noun, entity: Entity, files: readonly File[], field?: string): Promise<void> {
  const fields = field === undefined ? fileFields(noun) : [field]
  if (files.length === 0) return
  if (fields.length > 1) {
    attaching.value = { noun, entity, files }
    return
  }
  const [only] = fields
  if (only === undefined)
    return say(t('A {} has no field for files that you can change.', singular(noun)), { tone: 'bad' })
  if (files.length > 1 && !isList(noun, only))
    return say(t('This field holds one file. Drop one file only.'), { tone: 'bad' })
  try {
    const { sendFiles } = await import('./send.ts')
    sendFiles(noun, entity, only, files)
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
