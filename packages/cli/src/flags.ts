import { parseArgs } from 'node:util'
import { didYouMean } from '@tildebase/nouns'
import type { Command, Flags } from './command.ts'
import type { Given } from './given.ts'
import { UsageError } from './usage-error.ts'

/** The flags that every command knows. */
export const GLOBAL: Flags = {
  url: { type: 'string', help: 'where the service is (TILDE_URL; http://localhost:8787)' },
  tenant: { type: 'string', help: 'the tenant (TILDE_TENANT; else that of the key)' },
  key: { type: 'string', help: 'the key (TILDE_KEY, TILDE_ROOT_KEY)' },
  profile: { type: 'string', help: 'a profile that tilde login wrote (TILDE_PROFILE)' },
  json: { type: 'boolean', help: 'print JSON' },
  'as-of': { type: 'string', help: 'read the state as of that time' },
  'dry-run': { type: 'boolean', help: 'write nothing, tell what would be written' },
  propose: { type: 'string', help: 'propose it under this title, or add it to this changeset, instead of writing' },
  help: { type: 'boolean', short: 'h', help: 'say how a command is used' },
}

/** The command's name and the global flags, before it is known which other flags there are. */
export function firstLook(args: readonly string[]): { word: string | undefined; rest: string[]; given: Given } {
  const { values, tokens } = parsed(args, GLOBAL)
  const first = tokens.find((token) => token.kind === 'positional')
  return {
    word: first?.value,
    rest: args.filter((_, index) => index !== first?.index),
    given: givenOf(values),
  }
}

/** The words and flags of a command; a flag it does not know is told with the nearest that it does. */
export function readFlags(
  command: Pick<Command, 'flags' | 'accepts' | 'usage'>,
  args: readonly string[],
): { words: string[]; given: Given } {
  const named = Object.fromEntries(
    args
      .map((arg) => /^--([^=]+)/.exec(arg)?.[1])
      .filter((name) => name !== undefined && command.accepts?.(name))
      .map((name) => [name, { type: 'string', help: '' } as const]),
  )
  // The flags of every command win: a field of the same name is given with --set.
  const flags: Flags = { ...named, ...command.flags, ...GLOBAL }
  const { values, positionals, tokens } = parsed(args, flags)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (!flag) throw new UsageError(unknownFlag(token.rawName, command, flags))
    if (flag.type === 'string' && token.value === undefined) {
      throw new UsageError(`${token.rawName} takes a value: ${token.rawName} …`)
    }
    if (flag.type === 'boolean' && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`)
  }
  return { words: positionals, given: givenOf(values) }
}

/** Refuses --as-of, --dry-run and --propose where they would be ignored: a write would then be done, or done to the present. */
export function refuseUnheeded({ usage, heeds = [] }: Pick<Command, 'usage' | 'heeds'>, given: Given): void {
  for (const flag of ['as-of', 'dry-run', 'propose'] as const) {
    if (!given.has(flag) || heeds.includes(flag)) continue
    const [command] = usage.split(/\s/)
    throw new UsageError(`${command} cannot heed --${flag}, so it did nothing. Leave the flag out.`)
  }
}

function unknownFlag(name: string, { usage }: Pick<Command, 'usage'>, flags: Flags): string {
  const [command = ''] = usage.split(' ')
  const known = command === '' ? [...Object.keys(flags), 'version'] : Object.keys(flags)
  const near = didYouMean(name.replace(/^-+/, ''), known).replace(/mean (.*)\?$/, 'mean --$1?')
  if (command === '') return `There is no flag ${name}${near || '. See: tilde help'}`
  return `${command} has no flag ${name}${near || `. See: tilde ${command} --help`}`
}

function parsed(args: readonly string[], flags: Flags) {
  const options = Object.fromEntries(
    Object.entries(flags).map(([name, { type, multiple = false, short }]) => [
      name,
      short === undefined ? { type, multiple } : { type, multiple, short },
    ]),
  )
  return parseArgs({ args: [...args], options, strict: false, allowPositionals: true, tokens: true })
}

type Values = { readonly [name: string]: string | boolean | (string | boolean)[] | undefined }

function givenOf(values: Values): Given {
  const list = (name: string) => [values[name] ?? []].flat().map(String)
  return {
    list,
    text: (name) => list(name).at(-1),
    has: (name) => values[name] !== undefined && values[name] !== false,
    names: Object.keys(values),
  }
}
