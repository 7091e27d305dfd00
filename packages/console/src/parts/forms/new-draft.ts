import type { Noun } from '../../values/noun.ts'
import type { Draft } from './form.tsx'

/** The name of the draft of a new entity. */
export function newDraft(noun: Noun, preset: Draft = {}): string {
  return `new ${noun.name} ${Object.values(preset).join(' ')}`.trim()
}
