import { DOCUMENTATION } from '@tildebase/nouns'
import type { Command, Flags } from './command.ts'
import { COMMANDS, loadCommand, unknownCommand } from './commands.ts'
import { GLOBAL } from './parse/flags.ts'
import { UsageError } from './parse/usage-error.ts'

/** All commands on one page. */
export function overview(): string {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length))
  const commands = Object.entries(COMMANDS).map(([name, summary]) => `  ${name.padEnd(width)}  ${summary}`)
  return [
    'tilde: the command line of Tildebase.',
    '',
    ...[
      '  tilde serve',
      '  tilde Contact.create --name Ada --email ada@example.com',
      '  tilde Contact.find --stage Lead --sort -createdAt --limit 5',
      '  tilde Contact.qualify contact_…',
      '  tilde Contact.get contact_… --as-of 2026-01-31T12:00:00Z',
    ],
    '',
    'Commands',
    ...commands,
    `  ${'Type.find'.padEnd(width)}  find, findOne, count, aggregate, get, create, update, delete, history, diff, rollback, restore`,
    `  ${'Type.verb'.padEnd(width)}  any verb of the type: Deal.win, Invoice.pay`,
    '',
    'Flags of every command',
    ...flagLines(GLOBAL),
    '',
    `Documentation: ${DOCUMENTATION}`,
  ].join('\n')
}

/** How one command is used. */
export async function helpFor(word: string): Promise<string> {
  if (word.includes('.')) return helpOf((await import('./entities/entity.ts')).generalHelp(word))
  if (!Object.hasOwn(COMMANDS, word)) throw new UsageError(unknownCommand(word))
  return helpOf(await loadCommand(word))
}

function helpOf({
  usage,
  summary,
  flags,
  examples,
}: Pick<Command, 'usage' | 'summary' | 'flags' | 'examples'>): string {
  const uses = usage.split('\n').map((use) => `  tilde ${use}`)
  return [
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    '',
    ...uses,
    ...(Object.keys(flags).length > 0 ? ['', 'Flags', ...flagLines(flags)] : []),
    '',
    'Examples',
    ...examples.map((example) => `  ${example}`),
    '',
    'See tilde help for the flags of every command.',
  ].join('\n')
}

function flagLines(flags: Flags): string[] {
  const names = Object.entries(flags).map(
    ([name, { type, short }]) => `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ' …' : ''}`,
  )
  const width = Math.max(...names.map((name) => name.length))
  return Object.values(flags).map(({ help }, index) => `  ${names[index]!.padEnd(width)}  ${help}`)
}
