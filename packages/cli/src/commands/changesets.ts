import type { ChangesetEffect, ReviewedChangeset } from '@tildebase/client'
import type { Call, Command } from '../command.ts'
import { cell } from '../output/cell.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const COLUMNS = ['$id', 'state', 'title', 'operationCount', 'author', 'createdAt']

export const command: Command = {
  usage: [
    'changesets list [--state STATE]',
    'changesets show ID',
    'changesets diff ID',
    'changesets effect ID',
    'changesets approve ID [--operations 1,3]',
    'changesets reject ID [--reason TEXT]',
    'changesets comment ID --text TEXT',
    'changesets rebase ID [--keep 1,3]',
    'changesets from FORK [--fork-key KEY]',
  ].join('\n'),
  summary: 'lists, shows, approves and rejects changesets, and merges forks',
  flags: {
    state: { type: 'string', help: 'list only Open, Approved, Rejected or Stale ones; default Open, "any" for all' },
    operations: { type: 'string', help: 'approve only the operations with these numbers' },
    keep: { type: 'string', help: 'keep only the operations with these numbers; default all' },
    reason: { type: 'string', help: 'the reason for the rejection or the proposal' },
    text: { type: 'string', help: 'the comment' },
    title: { type: 'string', help: 'the title of the changeset from a fork' },
    'fork-key': { type: 'string', help: 'a key of the fork; not needed with the operator key' },
  },
  examples: [
    "tilde Contact.delete contact_… --propose 'Remove duplicates'",
    'tilde changesets list',
    'tilde changesets diff changeset_…',
    'tilde changesets approve changeset_… --operations 1,2,5',
    "tilde changesets reject changeset_… --reason 'She is another Ada'",
    'tilde changesets from acme-cleanup',
  ],
  heeds: ['dry-run'],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`changesets has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list(call) {
    someWords(call, [])
    const { link, flags, out } = call
    const state = flags.text('state') ?? 'Open'
    const query = { state: state === 'any' ? undefined : state, limit: 100 }
    const page = await link().$.request('GET', '/changesets', { query })
    out.list(page.results, COLUMNS, page)
  },
  async show(call) {
    const changeset = await read(call)
    if (call.out.json) return call.out.value(changeset)
    const { operations, diff: _, conflicts, messages: __, ...rest } = changeset
    call.out.record({ ...rest, operations: operations.length, conflicts: conflicts.length })
    call.out.note(`tilde changesets diff ${changeset.$id} shows what it changes.`)
  },
  async diff(call) {
    const changeset = await read(call)
    if (call.out.json) return call.out.value(changeset.diff)
    for (const line of diffLines(changeset)) call.out.line(line)
  },
  async effect(call) {
    const id = oneWord(call, 'the id of a changeset: tilde changesets list')
    const effect = await call.link().$.changesets.effect(id)
    if (call.out.json) return call.out.value(effect)
    for (const line of effectLines(effect)) call.out.line(line)
  },
  approve: (call) => decide(call, 'approve', { operations: numbersIn(call, 'operations') }),
  reject: (call) => decide(call, 'reject', { reason: call.flags.text('reason') }),
  comment: (call) => decide(call, 'comment', { text: call.flags.text('text') }),
  rebase: (call) => decide(call, 'rebase', { keep: numbersIn(call, 'keep') }),
  async from(call) {
    const { flags, settings, out } = call
    const body = {
      from: oneWord(call, 'the name of the fork'),
      key: flags.text('fork-key'),
      title: flags.text('title'),
      reason: flags.text('reason'),
    }
    const query = { dryRun: settings.dryRun || undefined }
    const answer = await call.link().$.request('POST', '/changesets', { body, query })
    if (out.json) return out.value(answer)
    const { $id, title, operationCount, conflicts } = settings.dryRun ? answer.result : answer
    out.record({ $id, title, operationCount, conflicts: conflicts.length })
  },
}

function read(call: Call): Promise<ReviewedChangeset> {
  return call.link().$.changesets.get(oneWord(call, 'the id of a changeset: tilde changesets list'))
}

async function decide(call: Call, verb: string, body: object): Promise<void> {
  const { out, settings } = call
  const id = oneWord(call, 'the id of a changeset: tilde changesets list')
  const query = { dryRun: settings.dryRun || undefined }
  const answer = await call.link().$.request('POST', `/changesets/${encodeURIComponent(id)}/${verb}`, { body, query })
  if (out.json) return out.value(answer)
  const { $id, title, state, operationCount } = settings.dryRun ? answer.result : answer
  out.record({ $id, title, state, operationCount })
  if (verb === 'approve' && !settings.dryRun) out.note(`POST …/undo/${$id} undoes it.`)
}

/** A line per entity and field: `- 1 Contact contact_… title: Countess → Lady`. */
function diffLines({ diff, conflicts }: ReviewedChangeset): string[] {
  const lines = diff.flatMap(({ operation, type, id, verb, changes }) => [
    `${operation}\t${verb}\t${type}\t${id}`,
    ...Object.entries(changes).map(([field, { from, to }]) => `\t${field}\t${shown(from)} → ${shown(to)}`),
  ])
  const against = conflicts.map(
    ({ operation, id, field, reason }) => `conflict\t${operation}\t${id}\t${field ?? ''}\t${cell(reason)}`,
  )
  return [...lines, ...against]
}

/** A line per number: `count	Deal	stage=Won	9 → 10`. */
function effectLines({ metrics, aggregates }: ChangesetEffect): string[] {
  return [
    ...metrics.map(({ name, unit, from, to }) => `metric\t${name}\t${unit}\t${shown(from)} → ${shown(to)}`),
    ...aggregates.map(({ measure, type, field, group = {}, from, to }) => {
      const groups = Object.entries(group).map(([name, value]) => `${name}=${cell(value)}`)
      return `${measure}\t${[type, field].filter(Boolean).join('.')}\t${groups.join(' ')}\t${from} → ${to}`
    }),
  ]
}

function shown(value: unknown): string {
  return value === null ? '(none)' : cell(value)
}

function numbersIn({ flags }: Call, name: string): number[] | undefined {
  const text = flags.text(name)
  if (text === undefined) return undefined
  if (/^\d+(,\d+)*$/.test(text)) return text.split(',').map(Number)
  throw new UsageError(`--${name} takes the numbers of operations: --${name} 1,3`)
}
