import type { Tenant } from '@tildebase/tenant'
import type { Bucket } from '../env.ts'
import type { ObjectMarks } from '../object/marks.ts'

/** The object of a tenant, as the operator's tasks need it. */
export interface TaskContext {
  readonly slug: string
  readonly exists: () => boolean
  readonly isRestoring: () => boolean
  /** Throws where a restore cannot begin, or continue, at this moment. */
  readonly demandFree: () => void
  readonly marks: ObjectMarks
  readonly bucket: Bucket | undefined
  readonly bytes: () => number
  /** Opens the tenant. */
  readonly tenant: () => Tenant
  /** Refuses all requests during some work. */
  readonly replaying: <T>(work: () => Promise<T>) => Promise<T>
  /** Has the alarm ring now. */
  readonly wake: () => void
  readonly erase: () => Promise<void>
}
