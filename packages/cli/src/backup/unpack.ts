import { copyFile, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Problem } from '@tildebase/client'
import { salvage } from '@tildebase/server/salvage'
import { UsageError } from '../parse/usage-error.ts'
import { FolderArchive } from './archive/folder-archive.ts'
import { addLines } from './salvage.ts'

/** How each file of SQLite begins. */
const MAGIC = 'SQLite format 3'

/** Works with the file of a backup as with a folder, which is removed at the end. */
export async function unpacked(file: string, slug: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tilde-repair-'))
  try {
    const copy = join(folder, 'copy.db')
    await copyFile(file, copy)
    if (!(await isDatabase(copy)))
      throw new UsageError(`${file} is not a backup. Name its folder, or the file of a tenant.`)
    const archive = await FolderArchive.open(join(folder, 'log'), slug)
    const lost = await addLines(linesIn(copy, slug), archive).finally(() => archive.close())
    if (lost.length > 0) throw new Problem('damaged', `${file} is damaged too: ${lost[0]} is not whole.`)
    await work(join(folder, 'log'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function* linesIn(path: string, slug: string): AsyncGenerator<string> {
  for (const text of salvage(path, slug, 0)) yield* text.split('\n').filter((line) => line !== '')
}

async function isDatabase(path: string): Promise<boolean> {
  const file = await open(path)
  const { buffer } = await file.read(Buffer.alloc(MAGIC.length), 0, MAGIC.length, 0).finally(() => file.close())
  return buffer.toString('latin1') === MAGIC
}
