import type { Call } from './command.ts'

/** What a proposal is answered with, as far as it is shown. */
interface Filed {
  readonly $id: string
  readonly title: string
  readonly operationCount: number
}

/** Shows what was proposed, and how to continue. */
export function proposed({ out }: Call, changeset: Filed): void {
  const { $id, title, operationCount } = changeset
  if (out.json) out.value(changeset)
  else out.record({ $id, title, operationCount })
  out.note(`Nothing was written. See tilde changesets diff ${$id}; another key approves it.`)
}
