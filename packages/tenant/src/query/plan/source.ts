import type { Moment, ReadContext } from '../reader.ts'
import { every, type Fragment, fragment, listOf, plain } from './fragment.ts'

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
  readonly version: Fragment
  readonly createdAt: Fragment
  readonly createdBy: Fragment
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
  return moment.asOf === null ? present(type, alias) : past(type, moment.asOf, alias)
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
    id: plain(`${alias}.entity`),
    version: plain(`${alias}.version`),
    createdAt: plain(`${alias}.created_at`),
    createdBy: plain(`${alias}.created_by`),
    updatedAt: plain(`${alias}.at`),
    data,
    dataFor: () => data,
    isStored: true,
  }
}

/** The columns that every row is read with, in the order of `Stored`. */
export function columns(source: Source): Fragment {
  const { n, id, version, createdAt, createdBy, updatedAt, data } = source
  return fragment`${n}, ${id}, ${version}, ${createdAt}, ${createdBy}, ${updatedAt}, ${data}`
}

function present(type: string, alias: string): Source {
  const data = plain(`${alias}.data`)
  const here = fragment`${plain(alias)}.type IS ${type} AND ${plain(alias)}.gone = 0`
  return {
    ...entityColumns(alias),
    from: plain(`entities ${alias}`),
    where: here,
    found: here,
    version: plain(`${alias}.version`),
    updatedAt: plain(`${alias}.updated_at`),
    data,
    dataFor: () => data,
    isStored: true,
  }
}

/** A version that has been superseded since joins its row of `versions` and of the log; a current one joins none. */
function past(type: string, seq: number, alias: string): Source {
  const e = plain(alias)
  const p = plain(`${alias}p`)
  const l = plain(`${alias}l`)
  const data = fragment`CASE WHEN ${l}.seq IS NULL THEN ${e}.data ELSE coalesce(${l}.data, '{}') END`
  const found = fragment`${e}.type IS ${type} AND (${l}.seq IS NOT NULL OR (${e}.seq <= ${seq} AND ${e}.gone = 0))`
  return {
    ...entityColumns(alias),
    from: fragment`entities ${e}
    LEFT JOIN versions ${p} ON ${e}.seq > ${seq} AND ${p}.n = ${e}.n AND ${p}.until > ${seq} AND ${p}.seq <= ${seq}
    LEFT JOIN log ${l} ON ${l}.seq = ${p}.seq`,
    // An entity's place is the seq of its first event: what came later need not be looked at.
    where: fragment`${e}.n <= ${seq} AND ${found}`,
    found,
    version: fragment`coalesce(${l}.version, ${e}.version)`,
    updatedAt: fragment`coalesce(${l}.at, ${e}.updated_at)`,
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
    createdAt: plain(`${alias}.created_at`),
    createdBy: plain(`${alias}.created_by`),
  }
}

/** The Event collection: tracked events as they are, and the event of every verb. */
function events(reader: ReadContext, moment: Moment, alias: string): Source {
  const e = plain(alias)
  const hidden = hiddenTypes(reader)
  const conditions = [
    moment.asOf === null ? plain('1') : fragment`${e}.seq <= ${moment.asOf}`,
    ...(hidden.length > 0 ? [fragment`${e}.type NOT IN ${listOf(hidden)}`] : []),
  ]
  const part = (json: string) =>
    plain(`CASE WHEN ${alias}.type = 'Event' THEN coalesce(${alias}.data, '{}') ELSE ${json} END`)
  return {
    alias,
    from: fragment`log ${e}`,
    where: every(conditions),
    found: every(conditions),
    n: plain(`${alias}.seq`),
    id: plain(`${alias}.id`),
    version: plain('1'),
    createdAt: plain(`${alias}.at`),
    createdBy: plain(`${alias}.actor`),
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
  return {
    name: `${e}.type || '.' || ${e}.event`,
    type: `'verb'`,
    data: `json_set(coalesce(${e}.data, '{}'), '$."$id"', ${e}.entity, '$."$type"', ${e}.type)`,
    source: `'API'`,
    timestamp: `strftime('%Y-%m-%dT%H:%M:%S', ${e}.at / 1000, 'unixepoch') || printf('.%03dZ', ${e}.at % 1000)`,
    properties: `json_object('verb', ${e}.verb, 'entityType', ${e}.type, 'entityId', ${e}.entity, 'version', ${e}.version)`,
  }
}

/** The fields that the events of verbs have in the Event collection; all others belong to tracked events alone. */
export const VERB_EVENT_FIELDS: ReadonlySet<string> = new Set(Object.keys(verbEvent('')))

/** One step per type along the index, so that the whole log need not be read. */
const TYPES = `
  WITH RECURSIVE types (type) AS (
    SELECT min(type) FROM log
    UNION ALL
    SELECT (SELECT min(log.type) FROM log WHERE log.type > types.type) FROM types WHERE types.type IS NOT NULL)
  SELECT type FROM types WHERE type IS NOT NULL`

/** The types of the log whose events this reader is not shown. */
export function hiddenTypes(reader: ReadContext): string[] {
  if (!reader.hidden) return []
  return reader.sql.rows(TYPES).flatMap(([type]) => (reader.hidden?.(type) ? [type] : []))
}
