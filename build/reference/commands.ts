import type { Command, Flags } from '../../packages/cli/src/command.ts'
import { COMMANDS, loadCommand } from '../../packages/cli/src/commands.ts'
import { generalHelp } from '../../packages/cli/src/entities/entity.ts'
import { READS } from '../../packages/cli/src/entities/entity-reads.ts'
import { GLOBAL } from '../../packages/cli/src/parse/flags.ts'
import { code, table } from './markdown.ts'

type Described = Pick<Command, 'usage' | 'summary' | 'flags'>

/** The flags that every command has. */
export function globalFlags(): string {
  return flagTable(GLOBAL)
}

/** Every command with its flags. */
export async function commandSections(): Promise<string> {
  const named = await Promise.all(
    Object.keys(COMMANDS).map(async (name) => section(name, (await loadCommand(name)) as Described)),
  )
  const reads = Object.keys(READS).map((name) => section(`Type.${name}`, generalHelp(`Contact.${name}`)))
  const writes = section('Type.verb', generalHelp('Contact.update'))
  return [...named, ...reads, writes].join('\n\n')
}

function section(name: string, { usage, summary, flags }: Described): string {
  return [
    `### ${name}`,
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    `\`\`\`text\n${[...usage.split('\n').map((use) => `tilde ${use}`)].join('\n')}\n\`\`\``,
    ...(Object.keys(flags).length > 0 ? [flagTable(flags)] : []),
  ].join('\n\n')
}

function flagTable(flags: Flags): string {
  const rows = Object.entries(flags).map(([name, { type, short, multiple, help }]) => [
    `${short ? `${code(`-${short}`)}, ` : ''}${code(`--${name}${type === 'string' ? ' …' : ''}`)}`,
    `${help}${multiple ? ' (repeatable)' : ''}`,
  ])
  return table(['Flag', 'Meaning'], rows)
}
