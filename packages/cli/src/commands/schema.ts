import { isPlainObject, type JsonObject } from '@tildebase/nouns'
import type { Call, Command } from '../command.ts'
import { type Described, describeType, jsonObject } from '../entities/type.ts'
import { readText } from '../files.ts'
import { diff, pull, push } from '../folder/push.ts'
import { oneWord, someWords, standardInput } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const ACTIONS = ['pull', 'diff', 'push', 'put', 'rename', 'retype', 'delete']
const BUILT_IN = new Set(['create', 'update', 'delete', 'rollback', 'restore'])

export const command: Command = {
  usage: [
    'schema [TYPE]',
    'schema pull [--folder FOLDER]',
    'schema diff [--folder FOLDER] [--all]',
    'schema push [--folder FOLDER] [--all] [--yes]',
    'schema put TYPE FILE',
    'schema rename TYPE FROM TO',
    'schema retype TYPE FIELD NOTATION',
    'schema delete TYPE',
  ].join('\n'),
  summary: "shows the tenant's types, applies those of a project, declares or changes one",
  flags: {
    folder: { type: 'string', help: 'pull, diff, push: the folder of the declarations; default ./tilde' },
    all: { type: 'boolean', help: 'diff, push: all tenants of the service; needs the operator key' },
    prune: { type: 'boolean', help: 'diff, push: delete what the tenant has and the folder does not declare' },
    yes: { type: 'boolean', help: 'push: do not ask before something is lost' },
  },
  examples: [
    'tilde schema',
    'tilde schema Contact',
    'tilde schema pull',
    'tilde schema diff',
    'tilde schema push --tenant acme',
    'tilde schema push --all --yes',
    `echo '{"name":"string!","length":"number"}' | tilde schema put Boat -`,
    'tilde schema rename Boat length metres --dry-run',
    `tilde schema retype Boat name 'string!##'`,
  ],
  heeds: ['dry-run'],
  async run(call) {
    const [first, ...words] = call.words
    if (first === 'pull') return pull({ ...call, words })
    if (first === 'diff') return diff({ ...call, words })
    if (first === 'push') return push({ ...call, words })
    if (first === 'put') return put({ ...call, words })
    if (first === 'rename') return migrate({ ...call, words }, 'rename', 'from', 'to')
    if (first === 'retype') return migrate({ ...call, words }, 'retype', 'field', 'to')
    if (first === 'delete') return drop({ ...call, words })
    if (first === undefined || (first === 'list' && words.length === 0)) return list(call)
    if (words.length > 0) throw new UsageError(`schema has list, ${ACTIONS.join(', ')}, not ${first}.`)
    show(call, await describeType(call.link(), oneWord(call, 'a type')))
  },
}
async function list({ link, out }: Call): Promise<void> {
  const answer = await link().$.schema()
  const types = answer.types.map((noun: Described) => ({
    name: noun.name,
    domain: noun.domain,
    path: noun.path,
    verbs: Object.keys(noun.verbs)
      .filter((verb) => !BUILT_IN.has(verb))
      .join(' '),
  }))
  out.list(types, ['name', 'domain', 'path', 'verbs'], answer)
}

function show({ out }: Call, noun: Described): void {
  const lines = Object.entries(noun.notation).map(([name, notation]) => ({ name, notation }))
  out.list(lines, ['name', 'notation'], noun)
}

async function put(call: Call): Promise<void> {
  const [type, file] = someWords(call, ['a type', 'a file with its notation as JSON, or -'])
  const text = file === '-' ? await standardInput() : await readText(file!)
  if (text.trim() === '') throw new UsageError('The notation is empty. It is JSON such as {"name": "string!"}.')
  const { settings, link } = call
  const query = { dryRun: settings.dryRun || undefined }
  const body = notationIn(jsonObject(text, file!))
  const answer = await link().$.request('PUT', `/schema/${encodeURIComponent(type!)}`, { body, query })
  show(call, settings.dryRun ? answer.result : answer)
}

/** The notation itself, also of a type as `tilde schema TYPE --json` shows it. */
function notationIn(given: { readonly [part: string]: unknown }): JsonObject {
  const { notation, fields, own } = given
  if (!isPlainObject(notation) || !isPlainObject(fields)) return given as JsonObject
  return (isPlainObject(own) && Object.keys(own).length > 0 ? own : notation) as JsonObject
}

async function migrate(call: Call, way: 'rename' | 'retype', ...names: readonly [string, string]): Promise<void> {
  const what = way === 'rename' ? ['the name of a field', 'its new name'] : ['a field', 'its new notation']
  const [type, first, second] = someWords(call, ['a type', ...what])
  const { settings, link, out } = call
  const query = { dryRun: settings.dryRun || undefined }
  const body = { [names[0]]: first, [names[1]]: second }
  const answer = await link().$.request('POST', `/schema/${encodeURIComponent(type!)}/${way}`, { body, query })
  const { migrated, type: noun } = settings.dryRun ? answer.result : answer
  show(call, noun)
  out.note(`${migrated} ${migrated === 1 ? 'entity' : 'entities'} ${settings.dryRun ? 'would be' : 'were'} changed.`)
}

async function drop(call: Call): Promise<void> {
  const type = oneWord(call, 'a type')
  const query = { dryRun: call.settings.dryRun || undefined }
  await call.link().$.request('DELETE', `/schema/${encodeURIComponent(type)}`, { query })
  call.out.note(`${type} is undone.`)
}
