import type { Chance } from '../../chance.ts'
import type { Violation } from '../history/history.ts'
import type { Cluster } from '../machines/cluster.ts'

/** What a fault is given. */
export interface Scene {
  readonly cluster: Cluster
  readonly chance: Chance
  /** The tenant that the fault is aimed at. */
  readonly tenant: string
  /** Adds a line to the report of the round. */
  readonly note: (line: string) => void
  /** Adds a violation that the fault itself found. */
  readonly violate: (violation: Violation) => void
}

/** Something that goes wrong while clients write. It may leave things broken: the round mends them. */
export interface Fault {
  readonly name: string
  /** True for one whose repair takes most of a minute: it comes less often. */
  readonly isSlow?: true
  run(scene: Scene): Promise<void>
}
