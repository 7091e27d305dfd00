import { parseArgs } from 'node:util'
import { catalogue, didYouMean, type Noun } from '@tildebase/nouns'
import type { Command, Flags } from '../command.ts'
import type { Given } from '../entities/given.ts'
import { UsageError } from './usage-error.ts'

/** The flags of all commands. */
export const GLOBAL: Flags = {
  url: { type: 'string', help: 'the URL of the service (TILDE_URL; http://localhost:8787)' },
  tenant: { type: 'string', help: 'the tenant (TILDE_TENANT; default that of the key)' },
  key: { type: 'string', help: 'the key (TILDE_KEY, TILDE_ROOT_KEY)' },
  profile: { type: 'string', help: 'a profile that tilde login created (TILDE_PROFILE)' },
  json: { type: 'boolean', help: 'print JSON' },
  'as-of': { type: 'string', help: 'read the state at that time' },
  'dry-run': { type: 'boolean', help: 'write nothing, show the result' },
  propose: {
    type: 'string',
    help: 'propose the change under this title, or add it to this changeset, instead of writing',
  },
  'no-wait': { type: 'boolean', help: 'if a write takes long, print its task instead of waiting for the result' },
  help: { type: 'boolean', short: 'h', help: 'show how to use a command' },
}

interface FirstLook {
  readonly word: string | undefined
  readonly rest: readonly string[]
  readonly given: Given
  /** What the word may be instead: the value of a flag that was written before the command. */
  readonly instead: string | undefined
}

/** The command's name and the global flags, before its own flags are known. */
export function firstLook(args: readonly string[]): FirstLook {
  const { values, tokens } = parsed(args, GLOBAL)
  const [first, second] = tokens.filter((token) => token.kind === 'positional')
  const [type = '', verb = ''] = (first?.value === 'do' ? second?.value : first?.value)?.split('.') ?? []
  const fields = fieldsLikeGlobal(type, verb)
  const settings = Object.entries(values).filter(([name]) => !fields.includes(name))
  const flag = args[(first?.index ?? 0) - 1]
  return {
    word: first?.value,
    instead: flag?.startsWith('--') && second ? `${second.value} ${flag} ${first?.value}` : undefined,
    rest: args.filter((_, index) => index !== first?.index),
    given: givenOf(Object.fromEntries(settings)),
  }
}

/**
 * The global flags that are fields in `Webhook.create --url …`. The built-in types alone have them: of the others nothing is
 * known before the service is asked, whose address such a flag would be.
 */
export function fieldsLikeGlobal(type: string, verb: string): readonly string[] {
  if (verb !== 'create' && verb !== 'update') return []
  const noun = Object.values<Noun>(catalogue).find(({ name, path }) => name === type || path === type)
  return Object.keys(GLOBAL).filter((name) => noun && Object.hasOwn(noun.fields, name))
}

/** The words and flags of a command; the error for an unknown flag names the nearest valid one. */
export function readFlags(
  command: Pick<Command, 'flags' | 'accepts' | 'usage' | 'fieldsLikeGlobal'>,
  args: readonly string[],
): { words: string[]; given: Given } {
  const named = Object.fromEntries(
    args
      .map((arg) => /^--([^=]+)/.exec(arg)?.[1])
      .filter((name) => name !== undefined && command.accepts?.(name))
      .map((name) => [name, { type: 'string', help: '' } as const]),
  )
  // Other global flags have precedence: a field of the same name needs --set.
  const fields = (command.fieldsLikeGlobal ?? []).map((name) => [name, command.flags[name]!] as const)
  const flags: Flags = { ...named, ...command.flags, ...GLOBAL, ...Object.fromEntries(fields) }
  const { values, positionals, tokens } = parsed(args, flags)
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const flag = Object.hasOwn(flags, token.name) ? flags[token.name] : undefined
    if (!flag) throw new UsageError(unknownFlag(token.rawName, command, flags))
    if (flag.type === 'string' && token.value === undefined) {
      throw new UsageError(`${token.rawName} needs a value: ${token.rawName} …`)
    }
    if (flag.type === 'boolean' && token.value !== undefined) throw new UsageError(`${token.rawName} takes no value.`)
  }
  return { words: positionals, given: givenOf(values) }
}

/** Refuses --as-of, --dry-run and --propose if the command would ignore them and write to the present. */
export function refuseUnheeded({ usage, heeds = [] }: Pick<Command, 'usage' | 'heeds'>, given: Given): void {
  for (const flag of ['as-of', 'dry-run', 'propose'] as const) {
    if (!given.has(flag) || heeds.includes(flag)) continue
    const [command] = usage.split(/\s/)
    throw new UsageError(`${command} does not support --${flag} and did nothing. Omit the flag.`)
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
