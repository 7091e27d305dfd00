import { Problem } from '@tildebase/client'
import type { Call, Command, Flags } from '../command.ts'
import { oneWord, someWords } from '../output/words.ts'
import { GLOBAL } from '../parse/flags.ts'
import { columnsOf, type Described, fieldFlags, jsonObject } from './type.ts'

const SHOW: Flags = {
  include: { type: 'string', help: 'relations to load, separated by commas' },
  fields: { type: 'string', help: 'the fields to show, separated by commas' },
}
const FILTER: Flags = { filter: { type: 'string', help: 'a filter as JSON: {"leadScore":{"$gte":50}}' } }
const PAGE: Flags = {
  sort: { type: 'string', help: 'fields to sort by: stage,-value' },
  limit: { type: 'string', help: 'how many, 1 to 100; default 25' },
  offset: { type: 'string', help: 'how many to skip' },
  cursor: { type: 'string', help: 'the cursor of the previous page' },
}

const MEASURE: Flags = {
  group: { type: 'string', help: 'fields to group by, separated by commas' },
  sum: { type: 'string', help: 'fields to sum' },
  avg: { type: 'string', help: 'fields to average' },
  min: { type: 'string', help: 'fields to take the minimum of' },
  max: { type: 'string', help: 'fields to take the maximum of' },
}

/** The read commands of every type. */
export const READS: { readonly [operation: string]: (noun: Described) => Command } = {
  find: (noun) => ({
    usage: `${noun.name}.find [--field value …]`,
    summary: 'lists entities; every field is a flag, with dots for fields of relations',
    flags: { ...equalities(noun), ...FILTER, ...PAGE, ...SHOW },
    accepts: isPath(noun),
    examples: [
      `tilde ${noun.name}.find --limit 5 --sort -createdAt`,
      `tilde ${noun.name}.find --filter '{"$text":"ada"}' --fields name --json`,
      `tilde ${noun.name}.find --as-of 2026-01-31T12:00:00Z`,
    ],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      someWords(call, [])
      const page = await call.link().$.request('GET', `/${noun.name}`, { query: listQuery(call) })
      call.out.list(page.results, columnsFor(call, noun), page)
      const shown = page.results.length
      if (page.hasMore) call.out.note(`${shown} of ${page.total}. More: --cursor ${page.cursor}`)
    },
  }),
  findOne: (noun) => ({
    usage: `${noun.name}.findOne [--field value …]`,
    summary: 'shows the first matching entity',
    flags: { ...equalities(noun), ...FILTER, sort: PAGE.sort!, ...SHOW },
    accepts: isPath(noun),
    examples: [`tilde ${noun.name}.findOne --sort -createdAt`],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      someWords(call, [])
      const query = { ...listQuery(call), limit: 1, total: false }
      const { results } = await call.link().$.request('GET', `/${noun.name}`, { query })
      if (results.length === 0) throw new Problem('not_found', `No ${noun.name} fits.`)
      call.out.record(results[0])
    },
  }),
  count: (noun) => ({
    usage: `${noun.name}.count [--field value …]`,
    summary: 'counts entities',
    flags: { ...equalities(noun), ...FILTER },
    accepts: isPath(noun),
    examples: [`tilde ${noun.name}.count`],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      someWords(call, [])
      const { count } = await call.link().$.request('GET', `/${noun.name}/count`, { query: listQuery(call) })
      call.out.value(count)
    },
  }),
  aggregate: (noun) => ({
    usage: `${noun.name}.aggregate --group FIELD [--sum FIELD …]`,
    summary: 'counts, sums and averages by group, largest first',
    flags: { ...equalities(noun), ...FILTER, ...MEASURE },
    accepts: isPath(noun),
    examples: [`tilde ${noun.name}.aggregate --group stage --sum value`],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      someWords(call, [])
      const answer = await call.link().$.request('GET', `/${noun.name}/aggregate`, { query: listQuery(call) })
      const groups = answer.results.map((group: { [name: string]: unknown }) => flat(group))
      call.out.list(groups, [...new Set<string>(groups.flatMap(Object.keys))], answer)
    },
  }),
  get: (noun) => ({
    usage: `${noun.name}.get ID`,
    summary: 'shows one entity, now or as of a time',
    flags: SHOW,
    examples: [`tilde ${noun.name}.get ID`, `tilde ${noun.name}.get ID --as-of 2026-01-31T12:00:00Z`],
    heeds: ['as-of', 'dry-run'],
    async run(call) {
      const id = encodeURIComponent(oneWord(call, 'the id'))
      const { include, fields, asOf } = listQuery(call)
      call.out.record(await call.link().$.request('GET', `/${noun.name}/${id}`, { query: { include, fields, asOf } }))
    },
  }),
  history: (noun) => ({
    usage: `${noun.name}.history ID`,
    summary: 'lists the versions of an entity, newest first',
    flags: { limit: PAGE.limit!, cursor: PAGE.cursor! },
    examples: [`tilde ${noun.name}.history ID`],
    heeds: ['dry-run'],
    async run(call) {
      const id = encodeURIComponent(oneWord(call, 'the id'))
      const query = { limit: call.flags.text('limit'), cursor: call.flags.text('cursor') }
      const page = await call.link().$.request('GET', `/${noun.name}/${id}/history`, { query })
      call.out.list(page.results, ['version', 'timestamp', 'verb', 'actor', 'previous'], page)
    },
  }),
  timers: (noun) => ({
    usage: `${noun.name}.timers ID`,
    summary: 'lists the pending timers of an entity',
    flags: {},
    examples: [`tilde ${noun.name}.timers ID`],
    heeds: ['dry-run'],
    async run(call) {
      const id = encodeURIComponent(oneWord(call, 'the id'))
      const answer = await call.link().$.request('GET', `/${noun.name}/${id}/timers`)
      call.out.list(answer.timers, ['name', 'at', 'run', 'status', 'error'], answer)
    },
  }),
  diff: (noun) => ({
    usage: `${noun.name}.diff ID --from VERSION --to VERSION`,
    summary: 'shows what changed between two versions or times',
    flags: {
      from: { type: 'string', help: 'a version or a time' },
      to: { type: 'string', help: 'a version or a time' },
    },
    examples: [`tilde ${noun.name}.diff ID --from 1 --to 2`],
    heeds: ['dry-run'],
    async run(call) {
      const id = encodeURIComponent(oneWord(call, 'the id'))
      const query = { from: call.flags.text('from'), to: call.flags.text('to') }
      const difference = await call.link().$.request('GET', `/${noun.name}/${id}/diff`, { query })
      call.out.list(difference.changes, ['field', 'from', 'to'], difference)
    },
  }),
}

/** The parameters of a list: options as they are, and every other flag as an equality. */
function listQuery({ flags, settings }: Call): { [name: string]: unknown } {
  const query: { [name: string]: unknown } = { asOf: settings.asOf }
  for (const name of flags.names) {
    if (Object.hasOwn(GLOBAL, name)) continue
    query[name] = name === 'filter' ? jsonObject(flags.text(name)!, '--filter') : flags.text(name)
  }
  return query
}

/** A group on one line: `{sum: {value: 3}}` → `{'sum value': 3}`. */
function flat(group: { [name: string]: unknown }): { [name: string]: unknown } {
  const entries = Object.entries(group).flatMap(([name, value]) =>
    name in MEASURE && typeof value === 'object' && value !== null
      ? Object.entries(value).map(([field, measured]) => [`${name} ${field}`, measured])
      : [[name, value]],
  )
  return Object.fromEntries(entries)
}

function equalities(noun: Described): Flags {
  return fieldFlags(
    noun,
    Object.values(noun.fields).filter(({ kind }) => kind !== 'back' && kind !== 'secret'),
  )
}

/** A path through a relation, or into a json field. */
function isPath(noun: Described): (flag: string) => boolean {
  return (flag) => flag.includes('.') && Object.hasOwn(noun.fields, flag.split('.')[0]!)
}

function columnsFor(call: Call, noun: Described): string[] {
  const fields = call.flags.text('fields')
  return fields === undefined ? columnsOf(noun) : ['$id', ...fields.split(',').filter((name) => name !== '$id')]
}
