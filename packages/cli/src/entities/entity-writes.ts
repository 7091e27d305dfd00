import type { Call, Command, Flags } from '../command.ts'
import { oneWord, someWords, standardInput } from '../output/words.ts'
import { fieldsLikeGlobal, GLOBAL } from '../parse/flags.ts'
import { UsageError } from '../parse/usage-error.ts'
import { FILE_FLAG, fileFields, sendFiles } from './entity-files.ts'
import { proposed } from './proposed.ts'
import { assignmentFrom, type Described, fieldFlags, jsonObject, valueFrom, writableFields } from './type.ts'

const GIVE: Flags = {
  data: { type: 'string', help: 'all fields as JSON; - reads standard input' },
  set: { type: 'string', multiple: true, help: 'name=value: any field, even if it is not declared' },
  'if-version': { type: 'string', help: 'write only if the entity has this $version' },
  'idempotency-key': { type: 'string', help: 'a repeated request with this key within a day runs only once' },
}

/** Examples of the built-in verbs. */
export const WRITES: { readonly [verb: string]: readonly string[] } = {
  create: ['tilde Contact.create --name Ada --email ada@example.com', `echo '{"name":"Ada"}' | tilde Contact.create`],
  update: [
    'tilde Contact.update ID --title Countess',
    "tilde Contact.update ID --title Countess --propose 'New titles'",
    'tilde Contact.update ID --set title=null --if-version 3',
  ],
  delete: ['tilde Contact.delete ID'],
  rollback: ['tilde Contact.rollback ID --as-of 2026-01-31T12:00:00Z'],
  restore: ['tilde Contact.restore ID'],
}

/** The command that runs a verb. */
export function writeCommand(noun: Described, verb: string): Command {
  const examples = WRITES[verb] ?? [`tilde ${noun.name}.${verb} ID`, `tilde ${noun.name}.${verb} ID --dry-run`]
  const args = [noun.verbs[verb]?.args ?? []].flat().filter((name) => !Object.hasOwn(noun.fields, name))
  const likeGlobal = fieldsLikeGlobal(noun.name, verb)
  return {
    usage: `${noun.name}.${verb}${verb === 'create' ? '' : ' ID'} [--field value …]`,
    summary: `runs the verb ${verb}; every field is a flag`,
    flags: {
      ...fieldFlags(noun, writableFields(noun)),
      ...Object.fromEntries(args.map((name) => [name, { type: 'string', help: 'an argument of the verb' } as const])),
      ...GIVE,
      ...(takesFiles(noun, verb) && FILE_FLAG),
      ...Object.fromEntries(likeGlobal.map((name) => [name, fieldLikeGlobal(noun.name, name)])),
    },
    fieldsLikeGlobal: likeGlobal,
    examples: examples.map((example) => example.replaceAll('Contact.', `${noun.name}.`)),
    heeds: verb === 'rollback' ? ['as-of', 'dry-run', 'propose'] : ['dry-run', 'propose'],
    run: (call) => write(call, noun, verb, args),
  }
}

function fieldLikeGlobal(type: string, name: string): Flags[string] {
  const help = `the ${name} of the ${type}; that of the service comes from TILDE_${name.toUpperCase()} or --profile`
  return { type: 'string', multiple: true, help }
}

async function write(call: Call, noun: Described, verb: string, args: readonly string[]): Promise<void> {
  const { flags, settings, out } = call
  if (verb === 'create') someWords(call, [])
  const path =
    verb === 'create' ? `/${noun.name}` : `/${noun.name}/${encodeURIComponent(oneWord(call, 'the id'))}/${verb}`
  const body = await bodyOf(call, noun, verb, args)
  const ifVersion = flags.text('if-version')
  const answer = await call.link().$.request('POST', path, {
    body,
    query: { dryRun: settings.dryRun || undefined, propose: settings.propose },
    headers: {
      'if-match': ifVersion === undefined ? undefined : `"${ifVersion}"`,
      'idempotency-key': flags.text('idempotency-key'),
    },
  })
  if (settings.dryRun) return rehearsed(call, answer)
  if (settings.propose !== undefined) return proposed(call, answer)
  if (answer === null) {
    if (out.json) out.value(null)
    else out.note(`Deleted ${call.words[0]}. To undo: tilde ${noun.name}.restore ${call.words[0]}`)
    return
  }
  out.record(answer)
  if ('secret' in answer) out.note('The secret is shown only once: save it now.')
}

/** The body: standard input or --data, then flags by name, then --set. */
async function bodyOf(
  call: Call,
  noun: Described,
  verb: string,
  args: readonly string[],
): Promise<{ [field: string]: unknown }> {
  const { flags, settings } = call
  if (verb === 'rollback') {
    if (settings.asOf === undefined) throw new UsageError('Name the time: --as-of 2026-01-31T12:00:00Z')
    return { asOf: settings.asOf }
  }
  const given = writableFields(noun).filter(
    ({ name }) =>
      flags.has(name) &&
      !(name in GIVE) &&
      !(name in GLOBAL && !fieldsLikeGlobal(noun.name, verb).includes(name)) &&
      !(name in FILE_FLAG && takesFiles(noun, verb)),
  )
  const set = flags.list('set').map(assignmentFrom)
  const fields = Object.fromEntries([
    ...given.map((field) => [field.name, valueFrom(field, flags.list(field.name))]),
    ...args.filter((name) => flags.has(name)).map((name) => [name, flags.text(name)]),
    ...set,
    ...(takesFiles(noun, verb) ? Object.entries(await sendFiles(call, noun, verb)) : []),
  ])
  const data = flags.text('data')
  const alone = verb === 'create' && Object.keys(fields).length === 0 && data === undefined
  const text = data === '-' || alone ? await standardInput() : data
  return text === undefined || text.trim() === '' ? fields : { ...jsonObject(text, '--data'), ...fields }
}

function takesFiles(noun: Described, verb: string): boolean {
  return (verb === 'create' || verb === 'update') && fileFields(noun).length > 0
}

function rehearsed({ out }: Call, answer: { result: { [field: string]: unknown } | null; events: unknown[] }): void {
  if (out.json || answer.result === null) out.value(answer)
  else out.record(answer.result)
  out.note(`Dry run: nothing was written. A real run would write ${answer.events.length} event(s).`)
}
