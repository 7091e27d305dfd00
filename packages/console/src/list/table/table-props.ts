import type { Entity } from '../../values/entity.ts'
import type { Noun } from '../../values/noun.ts'
import type { ListPage, Question } from '../question.ts'

/** What a table shows, and what it reports. */
export interface TableProps {
  readonly noun: Noun
  readonly columns: readonly string[]
  /** Columns that a narrow window has no room for: their values are below the title. */
  readonly below: readonly string[]
  readonly question: Question
  readonly page: ListPage
  readonly sort: string | null
  /** The field whose values head the groups of rows. */
  readonly group: string | null
  readonly active: number
  readonly busy: boolean
  readonly selected: ReadonlyMap<string, Entity>
  readonly onSort: (column: string) => void
  readonly onActive: (row: number) => void
  readonly onSelect: (entities: readonly Entity[], isSelected: boolean) => void
  readonly onMoveColumn: (name: string, before: string) => void
}
