import { expect } from 'vitest'
import { killFiles } from '../faults/files.ts'
import { verifies } from '../verifies.ts'

verifies(
  'file.durable',
  'kill -9 during uploads, links, erasures, backups and collections: no acknowledged content is lost, no other is left',
  async () => {
    expect((await killFiles(4)).faults).toEqual([])
  },
  180_000,
)
