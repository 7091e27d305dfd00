import type { Command } from '../command.ts'
import { helpFor, overview } from '../help.ts'

export const command: Command = {
  usage: 'help [COMMAND]',
  summary: 'shows how to use a command',
  flags: {},
  examples: ['tilde help', 'tilde help import', 'tilde Contact.find --help'],
  async run({ words, out }) {
    out.line(words[0] === undefined ? overview() : await helpFor(words[0]))
  },
}
