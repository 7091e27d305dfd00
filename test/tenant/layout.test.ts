import { expect, test } from 'vitest'
import { openAcme } from './fixture.ts'

test('a file of a newer layout is refused with a sentence that says what to do, and stays as it is', async () => {
  const { mkdtempSync, readFileSync, rmSync } = await import('node:fs')
  const folder = mkdtempSync('/tmp/tildebase-')
  const path = `${folder}/acme.db`
  const { tenant, close } = openAcme({}, path)
  tenant.sql.run(`UPDATE meta SET value = '999' WHERE key = 'layout'`)
  tenant.sql.scrub?.()
  close()
  const before = readFileSync(path)

  expect(() => openAcme({}, path)).toThrow(
    expect.objectContaining({ code: 'layout_too_new', message: expect.stringMatching(/999.*newer version/) }),
  )
  expect(readFileSync(path).equals(before)).toBe(true)
  rmSync(folder, { recursive: true })
})
