import { checkDraft, isPlainObject, type Json, Problem } from '@tildebase/nouns'
import { stateOf } from '../../connect/changes.ts'
import {
  type Ask,
  type Found,
  type Mapping,
  type ObjectMapping,
  sourceOf,
  type Values,
} from '../../connect/connector.ts'
import type { Engine } from '../../engine/engine.ts'
import { demand, type Grant } from '../../grant/grant.ts'
import { type ConnectorDeclaration, checkMapping, demandCoversIntegration } from './author.ts'
import { askerOf, openConnected } from './provider.ts'

/** Records of the provider as a mapping would write them. */
export interface Preview {
  readonly mapping: Mapping
  /** The mapping of the connector. */
  readonly default: Mapping
  readonly objects: readonly PreviewedObject[]
}

interface PreviewedObject {
  readonly object: string
  readonly type: string
  readonly records: readonly PreviewedRecord[]
  /** Why the provider gave no records. */
  readonly error?: string
}

interface PreviewedRecord {
  readonly source: string
  /** Their values. */
  readonly values: Values
  /** Ours. */
  readonly data: { readonly [field: string]: Json }
  readonly issues: readonly { readonly field: string; readonly message: string }[]
}

/** Records of each object. */
const RECORDS = 5
/** Answers of the provider for each object: it may have no such records, or say that there are more without end. */
const PAGES = 20
/** Fields of a record, and characters of a text, that are shown. */
const FIELDS = 100
const LONGEST = 200
/** All records that changed after this time, as they are now. */
const EVER = '1970-01-01T00:00:00.000Z'

/** Reads a few records of a connected integration and shows them in the fields of a mapping. Writes nothing. */
export async function preview(engine: Engine, grant: Grant, id: string, body: unknown): Promise<Preview> {
  demand(grant, 'write', engine.noun('Integration'))
  demandCoversIntegration(engine, grant, id)
  const { declaration, token } = openConnected(engine, id)
  if ('mail' in declaration) throw new Problem('not_supported', 'A mail server has no fields to map.')
  const given = isPlainObject(body) ? (body.mapping ?? null) : null
  const mapping = given === null ? declaration.mapping : checkMapping(engine, given)
  // A person waits: no long pauses.
  const wait = async (ms: number) => engine.ports.pause?.(ms)
  const ask = askerOf(engine, declaration, token, { wait, tries: 3, longestWait: 5_000 })
  const objects: PreviewedObject[] = []
  for (const [object, one] of Object.entries(mapping)) {
    const question = { object, mapping: one, since: EVER, now: engine.ports.clock.now(), scope: declaration.scope }
    const records: PreviewedRecord[] = []
    let pages = 0
    const askForPage: Ask = (path) => {
      if (++pages > PAGES) throw new Problem('unavailable', `The first ${PAGES} pages have no more of such records.`)
      return ask(path)
    }
    try {
      for await (const found of declaration.connector.records(askForPage, question)) {
        if (found.deletedAt === undefined) records.push(previewed(engine, declaration, object, one, found))
        if (records.length >= RECORDS) break
      }
      objects.push({ object, type: one.type, records })
    } catch (reason) {
      if (!(reason instanceof Problem)) throw reason
      objects.push({ object, type: one.type, records, error: reason.message })
    }
  }
  return { mapping, default: declaration.connector.mapping, objects }
}

function previewed(
  engine: Engine,
  { connector }: ConnectorDeclaration,
  object: string,
  mapping: ObjectMapping,
  found: Found,
): PreviewedRecord {
  const data = stateOf(connector, object, mapping, found)
  const noun = engine.noun(mapping.type)
  // References are found when it runs.
  const plain = Object.fromEntries(Object.entries(data).filter(([field]) => noun.fields[field]?.kind !== 'forward'))
  const { issues } = checkDraft(noun, plain, engine.ports.clock.now(), { dropsComputed: true })
  return { source: sourceOf(connector.name, object, found.id), values: shown(found.values), data, issues }
}

/** Values to choose from: texts in short, and what is nested left out. */
function shown(values: Values): Values {
  const plain = Object.entries(values).filter(([, value]) => typeof value !== 'object' || value === null)
  return Object.fromEntries(
    plain.slice(0, FIELDS).map(([name, value]) => [name, typeof value === 'string' ? value.slice(0, LONGEST) : value]),
  )
}
