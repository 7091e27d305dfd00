import { didYouMean, type Field, type Noun } from '@tildebase/nouns'
import type { Flags } from '../command.ts'
import type { Link } from '../link/link.ts'
import { UsageError } from '../parse/usage-error.ts'

/** A type as the service describes it. */
export type Described = Pick<Noun, 'name' | 'domain' | 'path' | 'fields' | 'verbs' | 'notation'>

export async function describeType({ $ }: Link, type: string): Promise<Described> {
  return $.schema(type)
}

/** The fields that a draft may set. */
export function writableFields(noun: Described): readonly Field[] {
  return Object.values(noun.fields).filter((field) => field.kind !== 'back' && !('service' in field && field.service))
}

/** A flag for every one of the fields. */
export function fieldFlags(noun: Described, fields: readonly Field[]): Flags {
  return Object.fromEntries(
    fields.map(({ name }) => [name, { type: 'string', multiple: true, help: String(noun.notation[name] ?? '') }]),
  )
}

/** The columns of a table: the id, the fields with values, and the time of the last change. */
export function columnsOf(noun: Described): string[] {
  const fields = Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret')
  return ['$id', ...fields.map(({ name }) => name), 'updatedAt']
}

/** A string from the command line, converted to the type of the field. */
export function valueFrom(field: Field, texts: readonly string[]): unknown {
  const list = 'list' in field && field.list
  if (list && field.kind === 'file') return texts.map((text) => oneFrom(field, text))
  if (list) return texts.flatMap((text) => text.split(',')).map((text) => oneFrom(field, text.trim()))
  return oneFrom(field, texts.at(-1)!)
}

/** `name=value`: any field, declared or not. The value is parsed as JSON if possible, else it is a string. */
export function assignmentFrom(text: string): [string, unknown] {
  const at = text.indexOf('=')
  if (at < 1) throw new UsageError(`--set needs name=value, not ${text}.`)
  return [text.slice(0, at), looseValue(text.slice(at + 1))]
}

/** A JSON object from the command line. */
export function jsonObject(text: string, flag: string): { [key: string]: unknown } {
  const value = jsonFrom(text, flag)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown }
  throw new UsageError(`${flag} needs a JSON object, such as '{"stage":"Lead"}'.`)
}

function oneFrom(field: Field, text: string): unknown {
  switch (field.kind) {
    case 'number': {
      const number = Number(text)
      if (text.trim() !== '' && Number.isFinite(number)) return number
      throw new UsageError(`--${field.name} needs a number, not ${text}.`)
    }
    case 'boolean':
      if (text === 'true' || text === 'false') return text === 'true'
      throw new UsageError(`--${field.name} needs true or false, not ${text}.`)
    case 'json':
    case 'file':
      return jsonFrom(text, `--${field.name}`)
    case 'enum': {
      const words = field.values ?? []
      if (words.includes(text)) return text
      throw new UsageError(`--${field.name} must be one of ${words.join(', ')}${didYouMean(text, words)}`)
    }
    default:
      return text
  }
}

function jsonFrom(text: string, flag: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`${flag} needs JSON; this is not JSON: ${text.slice(0, 60)}`)
  }
}

function looseValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
