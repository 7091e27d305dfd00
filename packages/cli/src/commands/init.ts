import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from '../command.ts'
import { PROJECT } from '../project.ts'
import { UsageError } from '../usage-error.ts'

export const command: Command = {
  usage: 'init [FOLDER]',
  summary: 'writes a small project: types of your own, hooks, and a typed script',
  flags: {},
  examples: ['tilde init fleet', 'cd fleet && tilde serve --config tilde.config.ts'],
  async run({ words, out }) {
    const folder = words[0] ?? '.'
    const taken = Object.keys(PROJECT).find((file) => existsSync(join(folder, file)))
    if (taken) throw new UsageError(`${join(folder, taken)} is there already. Choose an empty folder: tilde init NAME`)
    mkdirSync(folder, { recursive: true })
    for (const [file, text] of Object.entries(PROJECT)) {
      writeFileSync(join(folder, file), text)
      out.line(join(folder, file))
    }
    out.note(`Now: cd ${folder} && tilde serve --config tilde.config.ts`)
  },
}
