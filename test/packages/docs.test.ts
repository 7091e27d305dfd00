import { cpSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Block, programErrors, readBlocks, shellErrors } from '../docs.ts'
import { install, pack, ROOT_KEY, serve } from './installed.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const BLOCKS = globSync(['README.md', 'docs/**/*.md'], { cwd: REPOSITORY })
  .toSorted()
  .flatMap((page) => readBlocks(page, readFileSync(join(REPOSITORY, page), 'utf8')))
const isTest = (language: string) => (block: Block) => block.language === language && block.marks.includes('test')

describe('the pages, in a folder with the packed packages', () => {
  let packed: Awaited<ReturnType<typeof pack>>
  let home: Awaited<ReturnType<typeof install>>
  let server: Awaited<ReturnType<typeof serve>>
  beforeAll(async () => {
    packed = await pack()
    home = await install(packed.tarballs)
    // Auditors have this program from the documentation.
    cpSync(join(REPOSITORY, 'docs/verify.py'), join(home.folder, 'docs/verify.py'))
    server = await serve(home.folder, process.execPath)
  }, 600_000)
  afterAll(async () => {
    await server?.stop()
    home?.remove()
    packed?.remove()
  })
  const place = () => ({ url: server.url, rootKey: ROOT_KEY })

  const pages = [...Map.groupBy(BLOCKS.filter(isTest('sh')), ({ page }) => page)]
  test.each(pages)('%s runs from its top to its end', { timeout: 600_000 }, (_, blocks) => {
    expect(shellErrors(blocks, place(), home.folder)).toBe('')
  })

  const programs = BLOCKS.filter(isTest('ts')).map((block) => [`${block.page}:${block.line}`, block] as const)
  test.each(programs)('the program at %s runs', { timeout: 60_000 }, (_, block) => {
    expect(programErrors(block, place(), home.folder)).toBe('')
  })
})
