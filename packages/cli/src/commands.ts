import { didYouMean, nearest } from '@tildebase/nouns'
import type { Command } from './command.ts'
import type { Link } from './link.ts'
import { UsageError } from './usage-error.ts'

/** Every command with what it is for. Each is its own file. */
export const COMMANDS: { readonly [name: string]: string } = {
  serve: 'serve tenants over HTTP',
  search: 'find entities by words',
  fetch: 'read one entity',
  do: 'run a verb, or code beside the data',
  changesets: 'review what others propose',
  events: 'list or follow what happens',
  schema: 'show or declare types',
  keys: 'list, create and revoke keys',
  webhooks: 'manage webhooks, or try one at home',
  workflows: 'show, retry and test the runs of workflows',
  import: 'bring a file in',
  export: 'write a type to a file',
  sync: 'bring a local store and the service together',
  mcp: 'be a tool of a program that speaks MCP',
  tenants: 'list, inspect and delete tenants',
  cluster: 'show the nodes of a cluster, and move tenants',
  fork: 'copy a tenant, also as of a time',
  backup: 'save a tenant to a file',
  restore: 'make a tenant of a backup',
  verify: 'check that a tenant is whole',
  prove: 'prove that an event is in the log',
  login: 'keep a key for later',
  logout: 'forget a key',
  init: 'begin a project',
  doctor: 'find out what is wrong',
  completion: 'teach your shell the commands',
  version: 'show the version',
  help: 'say how a command is used',
}

/** Loads a command when it is called: most need little, and start fast. */
export async function loadCommand(name: string): Promise<Command> {
  return (await import(`./commands/${name}.ts`)).command
}

/** The command that a word names, with its arguments. `Contact.find` is one too: its flags are the type's fields. */
export async function commandOf(
  word: string,
  args: readonly string[],
  link: () => Link,
): Promise<{ command: Command; args: readonly string[] }> {
  if (word === 'do' && /^\w+\.\w+$/.test(args[0] ?? '')) return commandOf(args[0]!, args.slice(1), link)
  if (Object.hasOwn(COMMANDS, word)) return { command: await loadCommand(word), args }
  const [type = '', operation, ...more] = word.split('.')
  if (operation !== undefined && operation !== '' && type !== '' && more.length === 0) {
    const { entityCommand } = await import('./entity.ts')
    return { command: await entityCommand(type, operation, link()), args }
  }
  throw new UsageError(unknownCommand(word))
}

export function unknownCommand(word: string): string {
  const names = Object.keys(COMMANDS)
  const known = nearest(word, names, 1).length > 0
  const hint = /^[A-Z]/.test(word) && !known ? `. Did you mean ${word}.find?` : didYouMean(word, names)
  return `There is no command ${word}${hint || '. See: tilde help'}`
}
