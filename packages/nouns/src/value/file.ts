import type { Json } from '../noun.ts'
import type { Issue } from '../problem.ts'
import { isPlainObject } from './json.ts'

/** The value of a file field. The bytes are stored separately, by their hash. */
export interface FileValue {
  /** `sha256:` and 64 hex digits. */
  readonly hash: string
  /** The number of bytes. */
  readonly size: number
  /** The media type: `application/pdf`. */
  readonly type: string
  readonly name: string
}

/** A file in a write: content that the tenant has, by its hash. The service fills in the other parts. */
export type FileInput = Pick<FileValue, 'hash'> & Partial<FileValue>

export type FilePart = keyof FileValue & string

/** The parts of a file, in the order in which they are stored. */
export const FILE_PARTS: readonly FilePart[] = ['hash', 'size', 'type', 'name']

/** The form of a hash. */
export const HASH = /^sha256:[0-9a-f]{64}$/

const LONGEST_NAME = 255
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/
const UNKNOWN_TYPE = 'application/octet-stream'
const UNNAMED = 'file'
/** Control characters, and characters that change the direction of text, which can hide the ending of a name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are to be found.
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g

export function isFilePart(name: string): name is FilePart {
  return (FILE_PARTS as readonly string[]).includes(name)
}

/** Whether a stored value is a file with all its parts. */
export function isFileValue(value: unknown): value is FileValue {
  if (!isPlainObject(value) || Object.keys(value).length !== FILE_PARTS.length) return false
  return (
    typeof value.hash === 'string' &&
    HASH.test(value.hash) &&
    Number.isSafeInteger(value.size) &&
    typeof value.type === 'string' &&
    typeof value.name === 'string'
  )
}

/** The name of a file without folders and invisible characters: `..\a/b.pdf` → `b.pdf`. */
export function fileName(given: string | null | undefined): string {
  const last = (given ?? '').toWellFormed().replace(INVISIBLE, '').split(/[/\\]/).at(-1)!.trim()
  if (last === '' || last === '.' || last === '..') return UNNAMED
  return last.length <= LONGEST_NAME ? last : shortened(last)
}

/** The media type of a Content-Type header, without parameters. */
export function mediaType(header: string | null | undefined): string {
  const type = (header ?? '').split(';', 1)[0]!.trim().toLowerCase()
  return MEDIA_TYPE.test(type) ? type : UNKNOWN_TYPE
}

/** Checks a file in a write. Whether the tenant has the content is checked when it is written. */
export function fileCheck(value: unknown, at: string, issues: Issue[]): Json {
  const refuse = (message: string, part = '') => {
    issues.push({ field: part === '' ? at : `${at}.${part}`, message })
    return null
  }
  if (!isPlainObject(value)) return refuse('must be a file: {"hash": "sha256:…"}, with or without a name')
  const other = Object.keys(value).find((part) => !isFilePart(part))
  if (other !== undefined) return refuse(`a file has hash, size, type and name, and no ${other.slice(0, 80)}`)
  const { hash, size, type, name } = value
  if (typeof hash !== 'string' || !HASH.test(hash))
    return refuse('must be sha256: and 64 lower-case hex digits', 'hash')
  if (size !== undefined && !(Number.isSafeInteger(size) && (size as number) >= 0))
    return refuse('must be the number of bytes', 'size')
  if (type !== undefined && (typeof type !== 'string' || !MEDIA_TYPE.test(type)))
    return refuse('must be a media type such as application/pdf', 'type')
  if (name !== undefined && typeof name !== 'string') return refuse('must be a string', 'name')
  return {
    hash,
    ...(size !== undefined && { size: size as number }),
    ...(type !== undefined && { type: type as string }),
    ...(name !== undefined && { name: fileName(name as string) }),
  }
}

/** A long name, with its ending. */
function shortened(name: string): string {
  const dot = name.lastIndexOf('.')
  const ending = dot > 0 && name.length - dot <= 16 ? name.slice(dot) : ''
  return `${name.slice(0, LONGEST_NAME - ending.length)}${ending}`.toWellFormed()
}
