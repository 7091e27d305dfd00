import { createReadStream, existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { catalogue, type Json, noun } from '@tildebase/nouns'
import { anyDecoder } from '@tildebase/nouns/csv'
import { csvReader, type Found, type Mapping, type ObjectMapping, type PastValues } from '@tildebase/server/connect'
import { UsageError } from '../parse/usage-error.ts'

type Row = { readonly [column: string]: Json }

/** A source of records in files. */
export interface FileSource {
  readonly name: string
  readonly mapping: Mapping
  records(folder: string, object: string, mapping: ObjectMapping): AsyncGenerator<Found>
  refersTo(mapping: Mapping): (object: string, field: string) => string | null
  words(object: string, field: string): { readonly [value: string]: string } | null
}

const ROW = noun('Row', { row: 'string' })

/** The rows of a CSV file. One that cannot be read ends the import, so that nothing is lost silently. */
async function* rowsOf(file: string): AsyncGenerator<Row> {
  const reader = csvReader(ROW, true)
  const good = (rows: ReturnType<typeof reader.push>) =>
    rows.map((row) => {
      if ('value' in row) return row.value as Row
      throw new UsageError(`${basename(file)}: the row in line ${row.line} ${row.error}.`)
    })
  const decoder = anyDecoder(undefined)
  for await (const bytes of createReadStream(file)) yield* good(reader.push(decoder.decode(bytes)))
  yield* good(reader.push(decoder.end()))
  yield* good(reader.end())
}

function cell(row: Row, ...names: readonly string[]): string | null {
  const name = Object.keys(row).find((column) => names.includes(column.toLowerCase()))
  const value = name === undefined ? null : row[name]
  return value === null || value === undefined || value === '' ? null : String(value)
}

function timeOf(text: string | null, fallback: string): string {
  const at = text === null ? Number.NaN : Date.parse(text)
  return Number.isNaN(at) ? fallback : new Date(at).toISOString()
}

/** A folder of CSV files. Rows with the same id are the versions of a record, in the order of their times. */
export const folder: FileSource = {
  name: 'folder',
  mapping: {},
  async *records(path, object, { time }) {
    const file = join(path, `${object}.csv`)
    const written = statSync(file).mtime.toISOString()
    const versions = new Map<string, PastValues[]>()
    let number = 0
    for await (const values of rowsOf(file)) {
      number++
      const id = cell(values, 'id', '$id', 'uuid', 'key') ?? String(number)
      const at = timeOf(time === undefined ? null : cell(values, time.toLowerCase()), written)
      versions.set(id, [...(versions.get(id) ?? []), { at, values }])
    }
    for (const [id, all] of versions) {
      const [first, ...past] = all.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
      yield {
        id,
        createdAt: first!.at,
        values: first!.values,
        past: past.map((one, i) => changed([first!, ...past][i]!, one)),
      }
    }
  },
  refersTo: (mapping) => (object, field) => {
    const { type, fields } = mapping[object]!
    const own = Object.hasOwn(catalogue, type) ? catalogue[type as keyof typeof catalogue].fields : {}
    const relation = own[fields[field]! as keyof typeof own] as
      | { kind: string; target: string; targets?: string[] }
      | undefined
    if (relation?.kind !== 'forward') return null
    const targets = relation.targets ?? [relation.target]
    return Object.keys(mapping).find((one) => targets.includes(mapping[one]!.type)) ?? null
  },
  words: () => null,
}

/** The values of a version that differ from the one before. */
function changed(before: PastValues, { at, values }: PastValues): PastValues {
  const differing = Object.entries(values).filter(([name, value]) => before.values[name] !== value)
  return { at, values: Object.fromEntries(differing) }
}

/** The CSV files of a Salesforce data export, with the files of field histories. */
export const salesforce: FileSource = {
  name: 'salesforce',
  mapping: {
    Account: {
      type: 'Organization',
      fields: {
        Name: 'name',
        Website: 'website',
        Industry: 'industry',
        BillingCity: 'city',
        BillingCountry: 'country',
        NumberOfEmployees: 'employeeCount',
        AnnualRevenue: 'annualRevenue',
      },
      time: 'CreatedDate',
    },
    Contact: {
      type: 'Contact',
      fields: {
        FirstName: 'name',
        LastName: 'name',
        Email: 'email',
        Phone: 'phone',
        MobilePhone: 'mobile',
        Title: 'title',
        Department: 'department',
        AccountId: 'organization',
      },
      time: 'CreatedDate',
    },
    Opportunity: {
      type: 'Deal',
      fields: {
        Name: 'name',
        Amount: 'value',
        StageName: 'stage',
        Probability: 'probability',
        CloseDate: 'expectedCloseDate',
        AccountId: 'organization',
      },
      time: 'CreatedDate',
    },
    Case: {
      type: 'Ticket',
      fields: {
        Subject: 'subject',
        Description: 'description',
        Status: 'status',
        Priority: 'priority',
        ContactId: 'requester',
        AccountId: 'organization',
      },
      time: 'CreatedDate',
    },
  },
  async *records(path, object, { time = 'CreatedDate', fields }) {
    const histories = await historiesOf(path, object)
    const file = join(path, `${object}.csv`)
    const written = statSync(file).mtime.toISOString()
    for await (const row of rowsOf(file)) {
      const id = cell(row, 'id')
      if (id === null) throw new UsageError(`${basename(file)}: a row has no Id.`)
      const past = (histories.get(id) ?? []).filter(({ values }) =>
        Object.keys(values).some((name) => Object.hasOwn(fields, name)),
      )
      const isDeleted = ['1', 'true'].includes((cell(row, 'isdeleted') ?? '').toLowerCase())
      const deletedAt = timeOf(cell(row, 'systemmodstamp', 'lastmodifieddate'), written)
      yield {
        id,
        createdAt: timeOf(cell(row, time.toLowerCase()), written),
        values: { ...row, ...first(past) },
        past: past.map(({ before: _, ...one }) => one),
        ...(isDeleted && { deletedAt }),
      }
    }
  },
  refersTo: () => (_, field) => ({ AccountId: 'Account', ContactId: 'Contact' })[field] ?? null,
  words: (object, field) => WORDS[`${object}.${field}`] ?? null,
}

const WORDS: { readonly [field: string]: { readonly [value: string]: string } } = {
  'Opportunity.StageName': {
    Prospecting: 'Prospecting',
    Qualification: 'Qualification',
    'Needs Analysis': 'Qualification',
    'Value Proposition': 'Proposal',
    'Id. Decision Makers': 'Proposal',
    'Perception Analysis': 'Proposal',
    'Proposal/Price Quote': 'Proposal',
    'Negotiation/Review': 'Negotiation',
    'Closed Won': 'Won',
    'Closed Lost': 'Lost',
  },
  'Case.Status': { New: 'Open', Working: 'InProgress', Escalated: 'Escalated', 'On Hold': 'Pending', Closed: 'Closed' },
}

interface FieldChange extends PastValues {
  readonly before: Row
}

/** The changes of fields by the id of their record: `AccountHistory.csv`, `OpportunityFieldHistory.csv`. */
async function historiesOf(path: string, object: string): Promise<Map<string, FieldChange[]>> {
  const found = new Map<string, FieldChange[]>()
  const names = [`${object}History.csv`, `${object}FieldHistory.csv`]
  for (const file of names.map((name) => join(path, name)).filter((one) => existsSync(one))) {
    for await (const row of rowsOf(file)) {
      const id = cell(row, `${object}id`.toLowerCase(), 'parentid')
      const field = cell(row, 'field')
      const at = cell(row, 'createddate')
      if (id === null || field === null || at === null) continue
      const user = cell(row, 'createdbyid')
      const change = {
        at: timeOf(at, at),
        values: { [field]: cell(row, 'newvalue') },
        before: { [field]: cell(row, 'oldvalue') },
        ...(user !== null && { actor: `salesforce:user:${user}` }),
      }
      found.set(id, [...(found.get(id) ?? []), change])
    }
  }
  return found
}

/** The values of the fields before their first change. */
function first(past: readonly FieldChange[]): Row {
  const oldest = past.toSorted((a, b) => (a.at < b.at ? 1 : -1))
  return Object.assign({}, ...oldest.map(({ before }) => before))
}

/** The objects in a folder: its CSV files, without histories. */
export function objectsIn(path: string): readonly string[] {
  return readdirSync(path)
    .filter((name) => name.endsWith('.csv'))
    .map((name) => basename(name, '.csv'))
}
