import type { SigningKey } from '../../host/proof/signing-keys.ts'
import type { TenantFiles } from '../sqlite/files.ts'
import type { Restoring } from '../tenants/restoring.ts'
import type { FileThread } from '../threads/whole-files/thread.ts'
import type { AdminTask } from './admin-tasks.ts'
import type { OperatorJournal } from './operator-journal.ts'
import type { Scratch } from './scratch.ts'
import type { TaskBoard } from './task-board.ts'

/** What the operator's actions need of the host. */
export interface AdminDeps {
  readonly files: TenantFiles
  readonly scratch: Scratch
  readonly journal: OperatorJournal
  readonly tasks: TaskBoard
  readonly restoring: Restoring
  /** Does a task in the thread of the tenant. */
  readonly runTask: (slug: string, task: AdminTask) => Promise<unknown>
  /** Works on files next to all tenants. */
  readonly fileThread: Pick<FileThread, 'run'>
  /** The most bytes of a tenant; null means no limit. */
  readonly tenantLimit: number | null
  readonly isQuarantined: (slug: string) => boolean
  /** Ends the quarantine of a tenant; false when it was in none. */
  readonly release: (slug: string) => boolean
  readonly cancelAlarm: (slug: string) => void
  /** Makes a new key that signs checkpoints. */
  readonly rotateKey: () => Promise<SigningKey>
  /** Opens a tenant soon, so that it does what is due. */
  readonly wake: (slug: string) => void
}
