import { eventIdOf, isWhole, seqIn } from '../../store/log/event-ids.ts'
import { createdIn, entityOf } from '../../store/log/log-tables.ts'
import { loggedTypes } from '../../store/log/stream.ts'
import { fixedNumber, nameIn, nameNumber } from '../../store/names.ts'
import type { Moment, ReadContext } from '../reader.ts'
import { eachOf, type Fragment, fragment, listOf, plain } from './fragment.ts'

/** Where rows of a type come from. The same columns whether it is the present, the past or the log. */
export interface Source {
  readonly alias: string
  readonly from: Fragment
  /** What makes a row of `from` a row of the type at the moment. */
  readonly where: Fragment
  /** The same, for rows that need not be kept from reading further than the moment: an index has found them. */
  readonly found: Fragment
  readonly n: Fragment
  readonly id: Fragment
  /** The rows with one of these ids. */
  readonly withIds?: (ids: readonly string[]) => Fragment
  readonly version: Fragment
  readonly createdAt: Fragment
  /** The number of the actor that created it. */
  readonly creator: Fragment
  readonly updatedAt: Fragment
  readonly data: Fragment
  /** JSON that holds at least this field as `data` does, when that is cheaper than all of it. */
  dataFor(field: string): Fragment
  /** Whether `data` is a stored text, as `JSON.stringify` wrote it. */
  readonly isStored: boolean
}

/** The source of a type at a moment, under our own alias. */
export function sourceOf(reader: ReadContext, type: string, moment: Moment, alias: string): Source {
  if (isLogged(reader, type)) return events(reader, moment, alias)
  const number = typeNumber(reader, type)
  return moment.asOf === null ? present(number, alias) : past(number, moment.asOf, alias)
}

/** The number of a type. One that has none yet is looked up by the statement, which may be kept until it has one. */
export function typeNumber({ sql }: ReadContext, type: string): Fragment {
  const number = nameNumber(sql, type)
  return number > 0 ? fragment`${number}` : fragment`(SELECT names.n FROM names WHERE names.name = ${type})`
}

/** Whether the entities of a type are log records. */
export function isLogged(reader: Pick<ReadContext, 'nouns'>, type: string): boolean {
  return reader.nouns.get(type)?.storage === 'log'
}

/** Log records as the entities that they are about, in the state that they recorded. */
export function recordSource(alias: string): Source {
  const data = plain(`${alias}.data`)
  const here = plain(`${alias}.data IS NOT NULL`)
  return {
    alias,
    from: plain(`log ${alias}`),
    where: here,
    found: here,
    n: plain(`${alias}.seq`),
    id: plain(entityOf(alias)),
    version: plain(`${alias}.version`),
    createdAt: plain(createdIn(alias).at),
    creator: plain(createdIn(alias).by),
    updatedAt: plain(`${alias}.at`),
    data,
    dataFor: () => data,
    isStored: true,
  }
}

/** The columns that every row is read with, in the order of `Stored`. */
export function columns(source: Source): Fragment {
  const { n, id, version, createdAt, creator, updatedAt, data } = source
  return fragment`${n}, ${id}, ${version}, ${createdAt}, ${creator}, ${updatedAt}, ${data}`
}

/** An entity and the event that holds its state. SQLite leaves out the join where no state is read. */
function present(type: Fragment, alias: string): Source {
  const data = plain(`ifnull(${alias}l.data, '{}')`)
  const here = fragment`${plain(alias)}.type IS ${type} AND ${plain(alias)}.gone = 0`
  return {
    ...entityColumns(alias),
    from: plain(`entities ${alias} LEFT JOIN log ${alias}l ON ${alias}l.seq = ${alias}.seq`),
    where: here,
    found: here,
    data,
    dataFor: () => data,
    isStored: true,
  }
}

/** The state of a version that has been superseded since is that of its row of `versions`. */
function past(type: Fragment, seq: number, alias: string): Source {
  const e = plain(alias)
  const p = plain(`${alias}p`)
  const l = plain(`${alias}l`)
  const data = plain(`ifnull(${alias}l.data, '{}')`)
  // Entities are gone or not: with both values the index over types leads to some places without a look at all others.
  const found = fragment`${e}.type IS ${type} AND ${e}.gone IN (0, 1)
    AND (${p}.seq IS NOT NULL OR (${e}.seq <= ${seq} AND ${e}.gone = 0))`
  return {
    ...entityColumns(alias),
    from: fragment`entities ${e}
    LEFT JOIN versions ${p} ON ${p}.n = CASE WHEN ${e}.seq > ${seq} THEN ${e}.n END AND ${p}.until > ${seq} AND ${p}.seq <= ${seq}
    LEFT JOIN log ${l} ON ${l}.seq = ifnull(${p}.seq, ${e}.seq)`,
    // An entity's place is the seq of its first event: what came later need not be looked at.
    where: fragment`${e}.n <= ${seq} AND ${found}`,
    found,
    data,
    dataFor: () => data,
    isStored: true,
  }
}

function entityColumns(alias: string) {
  return {
    alias,
    n: plain(`${alias}.n`),
    id: plain(`${alias}.id`),
    // With a list of ids after IN, SQLite would rather read all rows of the type.
    withIds: ([id, ...others]: readonly string[]) =>
      id !== undefined && others.length === 0
        ? fragment`${plain(alias)}.id = ${id}`
        : fragment`${plain(alias)}.n IN (
          SELECT named.n FROM ${eachOf(id === undefined ? [] : [id, ...others], 'i')} CROSS JOIN entities named WHERE named.id = i.value)`,
    version: plain(`${alias}l.version`),
    createdAt: plain(`${alias}.created_at`),
    creator: plain(`${alias}.created_by`),
    updatedAt: plain(`${alias}l.at`),
  }
}

/** The Event collection: tracked events as they are, and the event of every verb. */
function events(reader: ReadContext, moment: Moment, alias: string): Source {
  const e = plain(alias)
  const id = plain(eventIdOf(alias))
  const whole = plain(isWhole(`${alias}.`))
  const hidden = hiddenTypes(reader)
  const seen = hidden.length > 0 ? fragment`${e}.type NOT IN ${listOf(hidden)}` : plain('1')
  const { asOf } = moment
  const part = (json: string) =>
    plain(`CASE WHEN ${alias}.type = ${fixedNumber('Event')} THEN coalesce(${alias}.data, '{}') ELSE ${json} END`)
  return {
    alias,
    from: fragment`log ${e}`,
    where: asOf === null ? seen : fragment`${e}.seq <= ${asOf} AND ${seen}`,
    // The plus hides the moment from SQLite, which ends what it reads at one place only.
    found: asOf === null ? seen : fragment`+${e}.seq <= ${asOf} AND ${seen}`,
    n: plain(`${alias}.seq`),
    id,
    withIds: (ids) =>
      fragment`(${e}.seq IN ${listOf(ids.map(seqIn))} OR (${e}.id IN ${listOf(ids)} AND ${whole})) AND ${id} IN ${listOf(ids)}`,
    version: plain('1'),
    createdAt: plain(`${alias}.at`),
    creator: plain(`${alias}.actor`),
    updatedAt: plain(`${alias}.at`),
    data: part(`json_object(${Object.entries(verbEvent(alias)).flatMap(([name, value]) => [`'${name}'`, value])})`),
    dataFor: (field) => {
      const value = Object.hasOwn(verbEvent(alias), field) ? verbEvent(alias)[field] : undefined
      return part(value === undefined ? `'{}'` : `json_object('${field}', ${value})`)
    },
    isStored: false,
  }
}

/** The fields that the event of a verb has in the Event collection, each as SQL over its log row. */
function verbEvent(e: string): { readonly [field: string]: string } {
  const type = nameIn(`${e}.type`)
  const entity = entityOf(e)
  return {
    name: `${type} || '.' || ${nameIn(`${e}.event`)}`,
    type: `'verb'`,
    data: `json_set(coalesce(${e}.data, '{}'), '$."$id"', ${entity}, '$."$type"', ${type})`,
    source: `'API'`,
    timestamp: `strftime('%Y-%m-%dT%H:%M:%S', ${e}.at / 1000, 'unixepoch') || printf('.%03dZ', ${e}.at % 1000)`,
    properties: `json_object('verb', ${nameIn(`${e}.verb`)}, 'entityType', ${type}, 'entityId', ${entity}, 'version', ${e}.version)`,
  }
}

/** The fields that the events of verbs have in the Event collection; all others belong to tracked events alone. */
export const VERB_EVENT_FIELDS: ReadonlySet<string> = new Set(Object.keys(verbEvent('')))

/** The numbers of the types of the log whose events this reader is not shown. */
export function hiddenTypes(reader: ReadContext): number[] {
  if (!reader.hidden) return []
  return loggedTypes(reader.sql)
    .filter((type) => reader.hidden?.(type))
    .map((type) => nameNumber(reader.sql, type))
}
