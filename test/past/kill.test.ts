import { expect } from 'vitest'
import { verifies } from '../verifies.ts'
import { killImports, killRuns } from './kill.ts'

verifies(
  'past.repeated',
  'an import that is killed at random points ends in the same log, and a second run writes nothing',
  async () => {
    expect((await killRuns(3)).wrong).toEqual([])
  },
  300_000,
)

verifies(
  'connect.spool',
  'a command that is killed at random points continues from its spool, and a second run writes nothing',
  async () => {
    expect((await killImports(3)).wrong).toEqual([])
  },
  300_000,
)
