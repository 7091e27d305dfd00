import type { FlagCounts } from '../business/flag-counts.ts'
import type { Feed } from '../services/events/feed.ts'
import type { People } from '../services/identity/people.ts'
import type { IndexJob } from '../services/index-job.ts'
import type { Keys } from '../services/keys.ts'
import type { Checkpoints } from '../services/proof/checkpoints.ts'
import type { Transactor } from '../write/group-commit.ts'

/** What a tenant keeps in memory in addition to its engine. */
export interface TenantServices {
  readonly transactor: Transactor
  readonly keys: Keys
  readonly people: People
  readonly feed: Feed
  readonly flagCounts: FlagCounts
  readonly indexing: IndexJob
  readonly checkpoints: Checkpoints
}
