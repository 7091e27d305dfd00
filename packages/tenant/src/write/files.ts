import {
  type FileInput,
  type FileValue,
  type Issue,
  isFileValue,
  type Json,
  type JsonObject,
  type Noun,
  Problem,
  type ValueField,
} from '@tildebase/nouns'
import { type Grant, may } from '../grant/grant.ts'
import { rowFilterOf } from '../query/read-context.ts'
import { visibilityOf } from '../query/rights/visibility.ts'
import { isVisible } from '../query/rights/visible-entity.ts'
import { currentOf } from '../store/entities.ts'
import {
  type Content,
  contentOf,
  isFieldOf,
  type Sending,
  saveUse,
  sendingsOf,
  usesOf,
} from '../store/files/contents.ts'
import { readEntry } from '../store/log/log.ts'
import { seqsOf } from '../store/log/versions.ts'
import type { VerbRequest } from './verb-request.ts'
import type { Write } from './write.ts'

/** The fields of a write with complete files, and what is wrong with them. */
interface CompleteFiles {
  readonly data: JsonObject
  readonly issues: readonly Issue[]
  /** The contents that they name. */
  readonly hashes: readonly string[]
}

/** So many entities with a content, and events of each, are tried to find one that the grant may read. */
const MOST_USES = 100
const MOST_EVENTS = 1_000

/** Who sent a content: the actor, and the person that it acts for. */
export function senderOf({ actor, onBehalfOf }: Grant): string {
  return onBehalfOf === undefined ? actor : `${actor} ${onBehalfOf}`
}

/**
 * Fills in size, type and name of the files in a write. Content that the tenant does not have, and content that the grant
 * neither sent nor can read in an entity, have the same answer.
 */
export function completeFiles(
  write: Write,
  noun: Noun,
  data: JsonObject,
  request: Pick<VerbRequest, 'knownContents'>,
  before: JsonObject = {},
): CompleteFiles {
  const fields = fileFields(noun).filter(({ name }) => Object.hasOwn(data, name) && data[name] !== null)
  if (fields.length === 0) return { data, issues: [], hashes: [] }
  const issues: Issue[] = []
  const hashes: string[] = []
  const complete = (given: Json, field: string, kept: readonly FileValue[]): Json => {
    const input = given as unknown as FileInput
    // Any other value is reported already.
    if (typeof input?.hash !== 'string') return given
    const value = completeFile(write, input, kept, request)
    if (typeof value === 'string') issues.push({ field, message: value })
    hashes.push(input.hash)
    return typeof value === 'string' ? given : { ...value }
  }
  const completed: { [field: string]: Json } = { ...data }
  for (const { name, list } of fields) {
    const given = data[name]!
    const kept = filesIn(before[name])
    completed[name] =
      list && Array.isArray(given)
        ? given.map((one, index) => complete(one as Json, `${name}.${index}`, kept))
        : complete(given, name, kept)
  }
  return { data: completed, issues, hashes }
}

/** Notes that the next event makes an entity name these contents: they can be read there from then on. */
export function noteFiles({ sql, engine }: Write, noun: Noun, entity: string, hashes: readonly string[]): void {
  for (const hash of hashes) saveUse(sql, hash, { entity, type: noun.name }, engine.head.seq + 1, true)
}

/** Refuses a past state with a file that was never one: its field may have held any JSON before it was declared. */
export function demandOwnFiles(write: Write, noun: Noun, id: string, state: JsonObject): void {
  for (const { name } of fileFields(noun)) {
    if (state[name] === undefined || areOwnFiles(write, id, state[name])) continue
    throw new Problem('validation_error', `${name} of this ${noun.name} was not a file at that time.`, {
      type: noun.name,
      id,
      field: name,
    })
  }
}

/** Whether a value is a file, or a list of files, that a file field of the entity holds or held. */
export function areOwnFiles({ sql }: Write, id: string, value: Json): boolean {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.every((one) => isFileValue(one) && isFieldOf(sql, one.hash, id))
}

/** The file fields of a type. */
export function fileFields(noun: Noun): readonly ValueField[] {
  const known = fields.get(noun)
  if (known) return known
  const found = Object.values(noun.fields).filter((field): field is ValueField => field.kind === 'file')
  fields.set(noun, found)
  return found
}

const fields = new WeakMap<Noun, readonly ValueField[]>()

/** The complete files of a field's value. */
export function filesIn(value: Json | undefined): readonly FileValue[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value]
  return list.filter(isFileValue)
}

/** The value of a file, or why it is refused. */
function completeFile(
  write: Write,
  input: FileInput,
  kept: readonly FileValue[],
  { knownContents }: Pick<VerbRequest, 'knownContents'>,
): FileValue | string {
  const { hash, size, type, name } = input
  const before = kept.filter((one) => one.hash === hash)
  const content = contentOf(write.sql, hash)
  const sendings: readonly Sending[] =
    content === null || (before.length === 0 && content.key === null)
      ? []
      : [...before, ...sendingsFor(write, content, type, knownContents)]
  const [first] = sendings
  if (content === null || first === undefined) return `there is no content ${hash}`
  if (size !== undefined && size !== content.size) return `has ${content.size} bytes, not ${size}`
  const sending = type === undefined ? first : sendings.find((one) => one.type === type)
  if (sending === undefined) return `has the type ${first.type}, not ${type}; the type is set when content is sent`
  return { hash, size: content.size, type: sending.type, name: name ?? sending.name }
}

/**
 * As what the grant may use a content: as it sent it itself, or as it reads it in an entity. The contents of a proposal are
 * those that its author may use, whatever the grant may read.
 */
function sendingsFor(
  write: Write,
  content: Content,
  type: string | undefined,
  known: ReadonlySet<string> | undefined,
): readonly Sending[] {
  const { hash } = content
  if (known !== undefined && !known.has(hash)) return []
  const own = sendingsOf(write.sql, hash, known === undefined ? senderOf(write.grant) : null)
  if (own.length > 0 && (type === undefined || own.some((one) => one.type === type))) return own
  return [...own, ...readable(write, hash, type)]
}

/** Whether the grant may use a content: it sent the content itself, or reads it in an entity. */
export function mayUse(write: Write, hash: string): boolean {
  return sendingsOf(write.sql, hash, senderOf(write.grant)).length > 0 || readable(write, hash, undefined).length > 0
}

/** The first file with a content that the grant may read, in an entity as it is or as it was. */
function readable(write: Write, hash: string, type: string | undefined): readonly FileValue[] {
  const { engine, grant, sql, context } = write
  const fits = (one: FileValue) => one.hash === hash && (type === undefined || one.type === type)
  const { show } = visibilityOf(engine, grant, null)
  for (const use of usesOf(sql, hash, MOST_USES)) {
    context.budget.checkTime()
    const noun = engine.nouns.get(use.type)
    const current = currentOf(sql, use.type, use.entity)
    if (noun === undefined || current === undefined || !may(grant, 'read', noun)) continue
    const isNarrow = rowFilterOf(engine, grant, noun.name) !== null
    const now = current.deleted ? [] : filesOf(noun, current.data).filter(fits)
    if (now.length > 0 && (!isNarrow || isVisible(engine, grant, noun, use.entity, context.budget))) return now
    for (const seq of seqsOf(sql, current.ordinal).slice(0, MOST_EVENTS)) {
      const record = readEntry(sql, seq)
      const then = record?.data?.includes(hash) ? filesOf(noun, record.data).filter(fits) : []
      if (then.length > 0 && show(record!) !== null) return then
    }
  }
  return []
}

function filesOf(noun: Noun, data: string): FileValue[] {
  const state = JSON.parse(data) as JsonObject
  return fileFields(noun).flatMap(({ name }) => filesIn(state[name]))
}
