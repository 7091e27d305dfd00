import type { Command } from '../command.ts'
import { SCRIPTS, suggestions } from '../completion.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'completion bash | zsh | fish',
  summary: 'prints a completion script for your shell: commands, types and verbs of the tenant',
  flags: {},
  examples: [
    'source <(tilde completion bash)',
    'tilde completion zsh > "${fpath[1]}/_tilde"',
    'tilde completion fish > ~/.config/fish/completions/tilde.fish',
  ],
  async run({ words, link, out }) {
    const [shell = '', ...typed] = words
    // Called by the scripts during completion.
    if (shell === 'words') return (await suggestions(typed, link)).forEach((word) => void out.line(word))
    const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined
    if (script === undefined) throw new UsageError('Name your shell: tilde completion bash, zsh or fish')
    someWords({ words }, ['a shell'])
    out.line(script)
  },
}
