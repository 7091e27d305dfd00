import { copyFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Problem } from '@tildebase/client'
import { salvage } from '@tildebase/server/salvage'
import { FolderArchive } from './archive/folder-archive.ts'
import { addLines } from './salvage.ts'

/** Works with the file of a backup as with a folder, which is removed at the end. */
export async function unpacked(file: string, slug: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'tilde-repair-'))
  try {
    const copy = join(folder, 'copy.db')
    await copyFile(file, copy)
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
