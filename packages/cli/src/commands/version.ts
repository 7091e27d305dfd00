import { readFileSync } from 'node:fs'
import type { Command } from '../command.ts'

export const command: Command = {
  usage: 'version',
  summary: 'shows the version of this command and of its Node',
  flags: {},
  examples: ['tilde version'],
  async run({ out }) {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
    if (out.json) out.value({ version, node: process.version })
    else out.line(`tilde ${version} (Node ${process.version})`)
  },
}
