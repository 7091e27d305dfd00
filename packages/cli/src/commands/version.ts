import type { Command } from '../command.ts'
import { someWords } from '../output/words.ts'
import { ownVersion } from '../own-version.ts'

export const command: Command = {
  usage: 'version',
  summary: 'shows the version of this command and of its Node',
  flags: {},
  examples: ['tilde version'],
  async run({ words, out }) {
    someWords({ words }, [])
    const version = ownVersion()
    if (out.json) out.value({ version, node: process.version })
    else out.line(`tilde ${version} (Node ${process.version})`)
  },
}
