import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { COMMANDS } from './commands.ts'
import { SCRIPTS } from './completion.ts'
import { helpFor, overview } from './help.ts'

test('every command has a file, and every file is a command', () => {
  const files = readdirSync(join(import.meta.dirname, 'commands')).map((file) => file.replace('.ts', ''))

  expect(files.sort()).toEqual(Object.keys(COMMANDS).sort())
  for (const name of files) expect(overview()).toContain(`\n  ${name} `)
})

test.each([...Object.keys(COMMANDS), 'Contact.find', 'Contact.create', 'Deal.win'])(
  '%s says how it is used, with an example',
  async (name) => {
    const help = await helpFor(name)

    expect(help).toContain(`\n  tilde ${name}`)
    expect(help).toMatch(/Examples\n {2}\S/)
  },
)

test('the error for an unknown command names the nearest one', async () => {
  await expect(helpFor('serv')).rejects.toThrow('There is no command serv; did you mean serve?')
})

test.each(['bash', 'zsh', 'fish'])('there is completion for %s', (shell) => {
  expect(SCRIPTS[shell]).toContain('tilde completion words --')
})
