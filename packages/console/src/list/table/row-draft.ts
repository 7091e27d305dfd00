import { forgetDraft, keptDrafts } from '../../drafts.ts'
import type { Noun } from '../../values/noun.ts'

/** The name of the draft of a row. */
export function rowDraft(noun: Noun, id: string): string {
  return `row ${noun.name} ${id}`
}

/** The row whose edit was not finished when the page was loaded again. */
export function unfinishedRow(noun: Noun): string | null {
  return keptDrafts(rowDraft(noun, ''))[0] ?? null
}

export function forgetRow(noun: Noun, id: string): void {
  forgetDraft(rowDraft(noun, id))
}
