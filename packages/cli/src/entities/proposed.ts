import type { Call } from '../command.ts'

/** The shown part of the answer to a proposal. */
interface Filed {
  readonly $id: string
  readonly title: string
  readonly operationCount: number
}

/** Shows the proposal and the next step. */
export function proposed({ out }: Call, changeset: Filed): void {
  const { $id, title, operationCount } = changeset
  if (out.json) out.value(changeset)
  else out.record({ $id, title, operationCount })
  out.note(`Nothing was written. Show the changes with: tilde changesets diff ${$id}. Another key must approve it.`)
}
