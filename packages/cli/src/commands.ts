import { didYouMean, nearest } from '@tildebase/nouns'
import type { Command } from './command.ts'
import type { Link } from './link/link.ts'
import { UsageError } from './parse/usage-error.ts'

const TYPE = /^[A-Z]\w*$/

/** Every command with its purpose. Each is a separate file. */
export const COMMANDS: { readonly [name: string]: string } = {
  serve: 'serve tenants over HTTP',
  dev: 'serve a project, and follow its changes',
  search: 'find entities by words',
  fetch: 'read one entity',
  do: 'run a verb, or code on the server',
  changesets: 'review proposed changes',
  asks: 'answer the questions of workflows',
  events: 'list or follow events',
  schema: 'show types, or apply those of a project',
  types: 'write the types for TypeScript',
  keys: 'list, create and revoke keys',
  webhooks: 'manage webhooks, or receive events locally',
  workflows: 'show, retry and test the runs of workflows',
  import: 'import a file',
  export: 'export all entities of a type',
  history: 'merge the past of several tenants',
  sync: 'synchronise a local store with the service',
  mcp: 'run an MCP server on standard input and output',
  tenants: 'list, inspect and delete tenants',
  cluster: 'show the nodes of a cluster, and move tenants',
  fork: 'copy a tenant, also as of a time',
  backup: 'save a tenant to a file',
  restore: 'create a tenant from a backup',
  repair: 'replace a damaged tenant by a backup and what its file still has',
  verify: 'check that a tenant or backup is complete',
  prove: 'check that an event is in the log, and save the proof',
  login: 'sign in and save a profile',
  logout: 'sign out and delete a profile',
  init: 'create a project',
  doctor: 'check the machine, the service and the key',
  completion: 'set up completion in your shell',
  version: 'show the version',
  help: 'show how to use a command',
}

/** Loads a command when it is called: most need little, and start fast. */
export async function loadCommand(name: string): Promise<Command> {
  return (await import(`#commands/${name}`)).command
}

/** Whether a word is a command, or may be one of a type. */
export function isCommand(word: string): boolean {
  return Object.hasOwn(COMMANDS, word) || word.includes('.')
}

/** The command of a name, with its arguments. `Contact.find` is one too: its flags are the type's fields. */
export async function commandOf(
  word: string,
  args: readonly string[],
  link: () => Link,
): Promise<{ command: Command; args: readonly string[] }> {
  if (word === 'do' && /\.[cm]?[jt]s$/.test(args[0] ?? ''))
    throw new UsageError(`Name the file with its flag: tilde do --file ${args[0]}`)
  if (word === 'do' && /^\w+\.\w+$/.test(args[0] ?? '')) return commandOf(args[0]!, args.slice(1), link)
  if (Object.hasOwn(COMMANDS, word)) return { command: await loadCommand(word), args }
  const [type = '', operation, ...more] = word.split('.')
  if (operation !== undefined && operation !== '' && type !== '' && more.length === 0) {
    const { entityCommand } = await import('./entities/entity.ts')
    return { command: await entityCommand(type, operation, link()), args }
  }
  throw new UsageError(unknownCommand(word, args[0]))
}

/** `next` is the word after it: `create Contact` is `Contact.create`. */
export function unknownCommand(word: string, next = ''): string {
  const names = Object.keys(COMMANDS)
  const known = nearest(word, names, 1).length > 0
  const type = word.replace(/\.+$/, '')
  const meant = TYPE.test(type)
    ? `${type}.${/^[a-z]+$/.test(next) ? next : 'find'}`
    : TYPE.test(next)
      ? `${next}.${word}`
      : ''
  const hint = meant !== '' && !known ? `. Did you mean ${meant}?` : didYouMean(word, names)
  return `There is no command ${word}${hint || '. See: tilde help'}`
}
