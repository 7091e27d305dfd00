import { CONDITION_FAULTS } from './conditions.ts'
import { DATABASE_FAULTS } from './databases.ts'
import type { Fault } from './fault.ts'
import { MOMENT_FAULTS } from './moments.ts'
import { OPERATION_FAULTS } from './operations.ts'
import { PARTITION_FAULTS } from './partitions.ts'
import { PROCESS_FAULTS } from './processes.ts'

/** Everything that the test breaks. */
export const FAULTS: readonly Fault[] = [
  ...PROCESS_FAULTS,
  ...PARTITION_FAULTS,
  ...DATABASE_FAULTS,
  ...CONDITION_FAULTS,
  ...MOMENT_FAULTS,
  ...OPERATION_FAULTS,
]
