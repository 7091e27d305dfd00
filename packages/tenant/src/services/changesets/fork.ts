import { type FileValue, type JsonObject, Problem, renameField, type Verb } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { migrationsOf } from '../../engine/migrations.ts'
import type { Grant } from '../../grant/grant.ts'
import { visibilityOf } from '../../query/rights/visibility.ts'
import { type LogRow, readLog } from '../../store/log/log.ts'
import { readOrigin } from '../../store/log/origin.ts'
import { fileFields, filesIn } from '../../write/files.ts'
import { demandSize } from './operations.ts'

/** A verb that a fork ran, for its origin to run again. */
interface ForkOperation {
  readonly type: string
  readonly verb: string
  readonly id: string
  readonly data?: JsonObject
}

/** A file that a fork got, and where it is: in a field of an entity, at an event. */
export interface ForkFile extends FileValue {
  readonly at: {
    readonly type: string
    readonly id: string
    readonly field: string
    /** The place in a list. */
    readonly n: number | null
    readonly seq: number
  }
}

/** What a fork did since it was made. */
export interface ForkChanges {
  readonly origin: { readonly tenant: string; readonly seq: number }
  readonly operations: readonly ForkOperation[]
  /** The files of the operations, each content once. */
  readonly files: readonly ForkFile[]
  /** How many events of each type are left out: they do not belong to the data, or follow from what does. */
  readonly skipped: { readonly [type: string]: number }
}

const PAGE = 1_000

/** Types that belong to a tenant itself, and not to its data. */
const OWN = new Set(['ApiKey', 'Webhook', 'Changeset', 'ChangesetPart', 'Event', 'Schema', 'Hook', 'Erasure'])

/** Actors that only follow: what they did happens again when the verbs run that led to it. */
const FOLLOWERS = /^(?:hook|timer|workflow):|^system$/

/** What a fork did since it was made, if the grant sees all of it. */
export function forkChanges(engine: Engine, grant: Grant): ForkChanges {
  const origin = readOrigin(engine.sql)
  if (origin === null) {
    throw new Problem('not_found', `The tenant ${engine.slug} is not a fork.`, { id: engine.slug })
  }
  const { show } = visibilityOf(engine, grant, null)
  const isConsequence = consequences()
  const operations: ForkOperation[] = []
  const files = new Map<string, ForkFile>()
  const skipped = new Map<string, number>()
  let bytes = 0
  for (let rows = readLog(engine.sql, origin.seq, PAGE); rows.length > 0; ) {
    for (const row of rows) {
      const verb = OWN.has(row.type) || FOLLOWERS.test(row.actor) ? undefined : verbOf(engine, row)
      // What was erased has no values to merge.
      if (verb === undefined || row.data === null || isConsequence(row)) {
        skipped.set(row.type, (skipped.get(row.type) ?? 0) + 1)
      } else if (show(row) !== row) throw hidden()
      else {
        operations.push(withNamesOf(origin.seq, engine, row, operationOf(row, verb)))
        for (const file of filesOf(engine, row)) files.set(file.hash, file)
      }
      bytes += row.data?.length ?? 0
      demandSize(operations.length, bytes)
    }
    rows = readLog(engine.sql, rows.at(-1)!.seq, PAGE)
  }
  return { origin, operations, files: [...files.values()], skipped: Object.fromEntries(skipped) }
}

/** The verb of an event. Undefined for one that only the service runs, which follows from others. */
function verbOf({ nouns }: Engine, { type, verb }: LogRow): Verb | undefined {
  const verbs = nouns.get(type)?.verbs ?? {}
  return Object.hasOwn(verbs, verb) ? verbs[verb] : undefined
}

/**
 * Tells which events only follow from the verb of an earlier one, which leads to them again: a merged Contact is deleted, and
 * the answer to a Ticket is sent as a Message.
 */
function consequences(): (row: LogRow) => boolean {
  const merged = new Set<string>()
  const answered = new Set<string>()
  const messages = new Set<string>()
  return ({ type, verb, entity, data }) => {
    switch (`${type}.${verb}`) {
      case 'Contact.merge':
        merged.add(entity)
        return false
      case 'Contact.delete':
        return merged.delete(entity)
      case 'Ticket.reply':
        answered.add(entity)
        return false
      case 'Message.create':
        if (!answered.delete(String((JSON.parse(data!) as JsonObject).ticket))) return false
        messages.add(entity)
        return true
      case 'Message.send':
        return messages.delete(entity)
      default:
        return false
    }
  }
}

/** The verb of an event, with its arguments and the fields that it changed: the same values come of it. */
function operationOf({ type, verb, entity: id, data, previous, args }: LogRow, { keeps }: Verb): ForkOperation {
  const state = JSON.parse(data!) as JsonObject
  const given = JSON.parse(args ?? '{}') as JsonObject
  if (verb === 'create') return { type, verb, id, data: { ...state, $id: id } }
  if (verb === 'delete' || verb === 'restore') return { type, verb, id }
  const fields = Object.keys(JSON.parse(previous ?? '{}'))
  const changed = Object.fromEntries(fields.map((field) => [field, state[field] ?? null]))
  // A rollback leads to a version that only the fork has.
  if (verb === 'rollback') return { type, verb: 'update', id, data: changed }
  // Arguments that no field takes are all that such a verb has.
  return { type, verb, id, data: keeps === undefined ? { ...given, ...changed } : given }
}

/** The operation with the names that fields had when the fork was made: the origin does not know what it renamed since. */
function withNamesOf(begin: number, engine: Engine, row: LogRow, operation: ForkOperation): ForkOperation {
  const migrations = migrationsOf(engine, row.type).filter(({ seq }) => seq > begin && seq < row.seq)
  if (migrations.length === 0 || operation.data === undefined) return operation
  const data = migrations.reduceRight(
    (fields, migration) => ('from' in migration ? renameField(fields, migration.to, migration.from) : fields),
    operation.data,
  )
  return { ...operation, data }
}

/** The files that an event added. */
function filesOf({ nouns }: Engine, { type, entity: id, data, previous, seq }: LogRow): readonly ForkFile[] {
  const noun = nouns.get(type)
  if (noun === undefined || !data?.includes('"sha256:')) return []
  const state = JSON.parse(data) as JsonObject
  const before = JSON.parse(previous ?? '{}') as JsonObject
  return fileFields(noun).flatMap(({ name: field, list }) => {
    const known = new Set(filesIn(before[field]).map(({ hash }) => hash))
    if (previous !== null && !Object.hasOwn(before, field)) return []
    const added = filesIn(state[field]).map((file, n) => ({
      ...file,
      at: { type, id, field, n: list ? n : null, seq },
    }))
    return added.filter(({ hash }) => !known.has(hash))
  })
}

function hidden(): Problem {
  return new Problem('forbidden', 'This key may not see all changes of the fork.')
}
