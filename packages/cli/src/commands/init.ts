import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../command.ts'
import { UsageError } from '../parse/usage-error.ts'
import { projectIn } from '../project.ts'

export const command: Command = {
  usage: 'init [FOLDER]',
  summary: 'creates a small project: your own types, typed hooks, a test and a script',
  flags: {},
  examples: ['tilde init fleet', 'cd fleet && npm install && npm test && npm run serve'],
  async run({ words, out }) {
    const folder = words[0] ?? '.'
    const project = projectIn(folder)
    const taken = Object.keys(project).find((file) => existsSync(join(folder, file)))
    if (taken) throw new UsageError(`${join(folder, taken)} already exists. Choose an empty folder: tilde init NAME`)
    mkdirSync(folder, { recursive: true })
    for (const [file, text] of Object.entries(project)) {
      writeFileSync(join(folder, file), text)
      out.line(join(folder, file))
    }
    out.note(`Next: cd ${folder} && npm install && npm test && npm run serve`)
  },
}
