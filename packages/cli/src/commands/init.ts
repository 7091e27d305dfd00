import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Command } from '../command.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'
import { projectIn } from '../project.ts'

export const command: Command = {
  usage: 'init [FOLDER]',
  summary: 'creates a project: declarations, a seed script, an example app and a test',
  flags: {},
  examples: ['tilde init fleet', 'cd fleet && npm install && npm run dev'],
  async run({ words, out }) {
    const [folder = '.'] = words.length > 1 ? someWords({ words }, ['a folder']) : words
    const project = projectIn(folder)
    const taken = Object.keys(project).find((file) => existsSync(join(folder, file)))
    if (taken) throw new UsageError(`${join(folder, taken)} already exists. Choose an empty folder: tilde init NAME`)
    mkdirSync(folder, { recursive: true })
    for (const [file, text] of Object.entries(project)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true })
      writeFileSync(join(folder, file), text)
      out.line(join(folder, file))
    }
    out.line('')
    out.line(`Next: ${folder === '.' ? '' : `cd ${folder} && `}npm install && npm run dev`)
    out.line(`Then, in a second terminal: npm run seed && npm run app (${join(folder, 'README.md')} says more)`)
  },
}
