import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { killRuns } from './kill.ts'

verifies(
  'past.repeated',
  'an import that is killed at random points ends in the same log, and a second run writes nothing',
  async () => {
    expect((await killRuns(3)).wrong).toEqual([])
  },
  300_000,
)
