import type { Command, Flags } from '../../packages/cli/src/command.ts'
import { command as serve } from '../../packages/cli/src/commands/serve.ts'
import { COMMANDS, loadCommand } from '../../packages/cli/src/commands.ts'
import { generalHelp } from '../../packages/cli/src/entities/entity.ts'
import { READS } from '../../packages/cli/src/entities/entity-reads.ts'
import { GLOBAL } from '../../packages/cli/src/parse/flags.ts'
import { code, codes, table } from './markdown.ts'

type Described = Pick<Command, 'usage' | 'summary' | 'flags'>

/** The flags that every command has. */
export function globalFlags(): string {
  return flagLines(GLOBAL)
}

/** Every command with its flags. */
export async function commandSections(): Promise<string> {
  const named = await Promise.all(
    Object.keys(COMMANDS).map(async (name) => section(name, (await loadCommand(name)) as Described)),
  )
  const reads = Object.keys(READS).map((name) => generalHelp(`Type.${name}`))
  const writes = section('Type.verb', generalHelp('Type.update'))
  return [...named, readSection(reads), writes].join('\n\n')
}

/** The commands that read a type in one table, and their flags once. */
function readSection(reads: readonly Described[]): string {
  const rows = reads.map(({ usage, summary, flags }) => [code(usage), summary, flagNames(Object.keys(flags))])
  const flags: Flags = Object.assign({}, ...reads.map((read) => read.flags))
  return ['### Reads of a type', table(['Command', 'Does', 'Flags'], rows), flagLines(flags)].join('\n\n')
}

function flagNames(names: readonly string[]): string {
  return codes(names.map((name) => `--${name}`))
}

function section(name: string, { usage, summary, flags }: Described): string {
  return [
    `### ${name}`,
    `${summary[0]!.toUpperCase()}${summary.slice(1)}.`,
    `\`\`\`text\n${[...usage.split('\n').map((use) => `tilde ${use}`)].join('\n')}\n\`\`\``,
    ...flagList(flags),
  ].join('\n\n')
}

/** The flags of a command. The page of settings describes those that are settings of the server. */
function flagList(flags: Flags): string[] {
  const isSetting = (name: string) =>
    flags[name]!.help === serve.flags[name]?.help && flags[name]!.help.includes('TILDE_')
  const settings = Object.keys(flags).filter(isSetting)
  const others = Object.entries(flags).filter(([name]) => !isSetting(name))
  return [
    ...(settings.length > 0 ? [`${flagNames(settings)}: see [settings](settings.md#server).`] : []),
    ...(others.length > 0 ? [flagLines(Object.fromEntries(others))] : []),
  ]
}

function flagLines(flags: Flags): string {
  const lines = Object.entries(flags).map(([name, { type, short, multiple, help }]) => {
    const flag = code(`--${name}${type === 'string' ? ' …' : ''}`)
    return `- ${short ? `${code(`-${short}`)}, ` : ''}${flag}: ${help}${multiple ? ' (repeatable)' : ''}`
  })
  return lines.join('\n')
}
