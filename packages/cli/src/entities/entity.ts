import { didYouMean } from '@tildebase/nouns'
import type { Command } from '../command.ts'
import type { Link } from '../link/link.ts'
import { UsageError } from '../parse/usage-error.ts'
import { FILES, fileFields } from './entity-files.ts'
import { READS } from './entity-reads.ts'
import { WRITES, writeCommand } from './entity-writes.ts'
import { type Described, describeType } from './type.ts'

/** What other tools call these operations. */
const USUAL: { readonly [operation: string]: string } = {
  ...{ list: 'find', ls: 'find', search: 'find', query: 'find', show: 'get', read: 'get' },
  ...{ add: 'create', new: 'create', insert: 'create', set: 'update', edit: 'update', remove: 'delete', rm: 'delete' },
}

/** The command `Type.operation`. Its flags are the fields of the type, so the service is asked for them first. */
export async function entityCommand(type: string, operation: string, link: Link): Promise<Command> {
  const noun = await describeType(link, type)
  if (Object.hasOwn(READS, operation)) return READS[operation]!(noun)
  if (Object.hasOwn(noun.verbs, operation)) return writeCommand(noun, operation)
  const files = fileFields(noun).length > 0 ? FILES : {}
  if (Object.hasOwn(files, operation)) return files[operation]!(noun)
  const known = [...Object.keys(READS), ...Object.keys(noun.verbs), ...Object.keys(files)]
  const usual = USUAL[operation]
  const near = usual === undefined ? didYouMean(operation, known) : `; did you mean ${usual}?`
  throw new UsageError(`${noun.name} has no verb ${operation}${near || `. It has ${known.join(', ')}`}`)
}

/** The usage of these commands, for all types. */
export function generalHelp(word: string): Pick<Command, 'usage' | 'summary' | 'flags' | 'examples'> {
  const [type = 'Contact', operation = 'find'] = word.split('.')
  const bare: Described = { name: type, domain: '', path: '', fields: {}, verbs: {}, notation: {} }
  if (Object.hasOwn(READS, operation)) return READS[operation]!(bare)
  if (Object.hasOwn(FILES, operation)) return FILES[operation]!(bare)
  const command = writeCommand(bare, operation)
  const examples = WRITES[operation] ?? [`tilde ${word} ID`]
  return { ...command, examples: examples.map((example) => example.replaceAll('Contact.', `${type}.`)) }
}
