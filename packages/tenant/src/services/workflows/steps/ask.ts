import {
  checkDraft,
  invalid,
  isoOf,
  isPlainObject,
  type Json,
  type JsonObject,
  Problem,
  parseNoun,
} from '@tildebase/nouns'
import { mayRead, maySeeValues } from '../../../authorship/stored.ts'
import type { Engine } from '../../../engine/engine.ts'
import { type Grant, grantFor, may } from '../../../grant/grant.ts'
import { mayApproveOwn } from '../../../grant/scopes.ts'
import { isVisible } from '../../../query/rights/visible-entity.ts'
import {
  type AskRow,
  type AskSelection,
  addAsk,
  answerAsk,
  askingWorkflows,
  askWithId,
  countOpenAsks,
  openAsks,
} from '../../../store/automation/asks.ts'
import { holdRun, runAt } from '../../../store/automation/workflow-runs.ts'
import { currentOf } from '../../../store/entities.ts'
import { completeFiles } from '../../../write/files.ts'
import { missingReferences } from '../../../write/references.ts'
import { applyVerb } from '../../../write/verb.ts'
import type { Write } from '../../../write/write.ts'
import { noteAsk } from '../../mail/notices.ts'
import { authoredWorkflow, currentWorkflow } from '../author.ts'
import { fill, resolve, type Sources, textOf } from '../values.ts'
import { durationOf, LONGEST_STEP } from './duration.ts'
import type { AskStep } from './step.ts'

const ANSWERS = ['Approved', 'Rejected']

/** Asks a person or a role. Returns what the run shows of it, and when it stops waiting. */
export function ask(
  write: Write,
  run: { readonly n: number; readonly workflow: string },
  place: number,
  step: AskStep,
  sources: Sources,
): { readonly input: JsonObject; readonly due: number | null } {
  const { sql, context } = write
  const askedAt = context.clock.now()
  const { fields, timeout } = step.ask
  const { of, title } = questionIn(step, sources)
  if (!/^(?:role:|user_)/.test(of)) {
    throw new Problem('invalid_parameter', `ask.of: ${step.ask.of} is neither a role nor a User.`, { field: 'ask.of' })
  }
  const due = timeout === undefined ? null : askedAt + durationOf(timeout, LONGEST_STEP)!
  const id = write.newId('ask')
  const { n, workflow } = run
  addAsk(sql, { id, run: n, step: place, workflow, of, title, fields: fields ?? null, askedAt, due })
  noteAsk(write, id, of)
  return { input: { ask: id, of, title }, due }
}

/** Whom a step asks, and what, with the references in them replaced. */
export function questionIn({ ask: { of, title } }: AskStep, sources: Sources): { of: string; title: string } {
  const secret = (name: string) => `$secrets.${name}`
  return { of: textOf(resolve(of, sources)), title: textOf(fill(title, { sources, secret })).slice(0, 1_000) }
}

/** Which questions to list: oldest first, after one of them. */
export interface AskQuestion {
  readonly cursor: string | null
  readonly limit: number
}

/** The open questions to a person and to the person's role; those of the workflows that it may read for a key. */
export function asksOf(engine: Engine, grant: Grant, { cursor, limit }: AskQuestion): JsonObject {
  const selection = askedAs(engine, grant)
  const after = cursor === null ? 0 : (askWithId(engine.sql, cursor)?.n ?? null)
  if (after === null) {
    throw new Problem('invalid_cursor', `${cursor!.slice(0, 60)} is not a cursor of this list.`, { field: 'cursor' })
  }
  const found = openAsks(engine.sql, selection, after, limit + 1)
  const shown = found.slice(0, limit)
  return {
    results: shown.map((row) => askView(engine, grant, row)),
    total: countOpenAsks(engine.sql, selection),
    hasMore: found.length > limit,
    cursor: found.length > limit ? shown.at(-1)!.id : null,
  }
}

/** One question, open or closed, if it is one that the grant may see. */
export function askWith(engine: Engine, grant: Grant, id: string): JsonObject {
  return askView(engine, grant, demandAsk(engine, grant, id))
}

/** Answers a question for a person. The run continues with the answer. */
export function answer(write: Write, id: string, body: unknown): JsonObject {
  const { engine, sql, grant, context } = write
  const row = demandAsk(engine, grant, id)
  demandAnswerer(grant)
  if (row.state !== 'Open') {
    throw new Problem('conflict', `The question ${id} is already ${row.state.toLowerCase()}.`, { type: 'Ask', id })
  }
  const given = isPlainObject(body) ? body : {}
  if (!ANSWERS.includes(given.answer as string)) {
    throw invalid('Ask', [{ field: 'answer', message: `must be ${ANSWERS.join(' or ')}` }])
  }
  const now = context.clock.now()
  const fields = fieldsIn(write, row, given.answer as string, given.fields)
  answerAsk(sql, id, { answer: given.answer as string, by: grant.actor, ...fields }, grant.actor, now)
  holdRun(sql, row.run, now)
  write.wakeAt(now)
  noteAnswer(write, row, given.answer as string)
  return askView(engine, grant, askWithId(sql, id)!)
}

/** The answer is part of the history of the workflow, with the person as its actor. */
function noteAnswer(write: Write, { id, workflow, run }: AskRow, given: string): void {
  const current = currentOf(write.sql, 'Workflow', workflow)
  if (!current || current.deleted) return
  const internalVerb = { name: 'answer', before: 'answering', event: 'answered', keeps: 'event' } as const
  const data = { ask: id, run: runAt(write.sql, run)?.id ?? null, answer: given }
  const own = write.within({ correlation: null }).as(grantFor(write.grant.actor))
  applyVerb(own, { type: 'Workflow', verb: 'answer', id: workflow, data, internalVerb })
}

/**
 * The fields of an answer. A rejection may leave out those that are required. The run uses them with the rights of its
 * author, so they name only files and entities that the person may use.
 */
function fieldsIn(write: Write, { fields }: AskRow, given: string, sent: unknown): JsonObject {
  if (sent !== undefined && !isPlainObject(sent)) {
    throw invalid('Ask', [{ field: 'fields', message: 'must be an object' }])
  }
  const names = Object.keys(fields ?? {})
  const unknown = Object.keys(sent ?? {}).filter((name) => !names.includes(name))
  if (unknown.length > 0) {
    const message = names.length === 0 ? 'the question has no fields' : `the question has ${names.join(', ')}`
    throw invalid('Ask', [{ field: `fields.${unknown[0]}`, message }])
  }
  if (fields === null) return {}
  const noun = parseNoun('Ask', fields)
  const draft = checkDraft(noun, sent ?? {}, write.context.clock.now())
  const { data, issues: unusable } = completeFiles(write, noun, draft.data, {})
  const unseen = missingReferences(write, noun, data, { type: noun.name, verb: 'answer' })
  const issues = [...draft.issues, ...unusable, ...unseen]
  const isMissing = (field: string | undefined) => !Object.hasOwn(sent ?? {}, field ?? '')
  const wrong = given === 'Approved' ? issues : issues.filter(({ field }) => !isMissing(field))
  if (wrong.length > 0)
    throw invalid(
      'Ask',
      wrong.map((issue) => ({ ...issue, field: `fields.${issue.field}` })),
    )
  return data
}

/** Only a person's own session answers; a key where it may approve what is its own. Never an agent, nor a workflow or a hook. */
function demandAnswerer(grant: Grant): void {
  const isStored = grant.author !== undefined
  if (!isStored && grant.actor.startsWith('user_') && grant.onBehalfOf === undefined) return
  if (!isStored && !grant.actor.startsWith('agent_') && mayApproveOwn(grant.scopes)) return
  throw new Problem('forbidden', 'A person answers this, signed in; a key needs the scope approve:own.', {
    type: 'Ask',
    missing: 'approve:own',
  })
}

function demandAsk(engine: Engine, grant: Grant, id: string): AskRow {
  const row = askWithId(engine.sql, id)
  if (row && isFor(engine, grant, row)) return row
  throw new Problem('not_found', `There is no question ${id.slice(0, 60)} for you.`, { type: 'Ask', id })
}

function isFor(engine: Engine, grant: Grant, { of, workflow }: AskRow): boolean {
  const person = personOf(grant)
  return person === undefined
    ? isVisible(engine, grant, engine.noun('Workflow'), workflow)
    : addressesOf(engine, person).includes(of)
}

/** Whose questions a grant sees: those of its person and the person's role; a key those of the workflows that it reads. */
function askedAs(engine: Engine, grant: Grant): AskSelection {
  const person = personOf(grant)
  if (person !== undefined) return { of: addressesOf(engine, person) }
  const noun = engine.noun('Workflow')
  if (!may(grant, 'read', noun)) return { workflows: [] }
  if (!Object.hasOwn(grant.rows, noun.name)) return 'all'
  return { workflows: askingWorkflows(engine.sql).filter((id) => isVisible(engine, grant, noun, id)) }
}

function personOf({ actor, onBehalfOf }: Grant): string | undefined {
  return actor.startsWith('user_') ? actor : onBehalfOf
}

/** What a question is addressed to that is for a person. */
function addressesOf({ sql }: Engine, person: string): readonly string[] {
  const user = currentOf(sql, 'User', person)
  const role = user && !user.deleted ? (JSON.parse(user.data) as JsonObject).role : null
  return [person, ...(typeof role === 'string' ? [`role:${role}`] : [])]
}

/**
 * Whether a grant sees what the title says: it has values that the author of the workflow reads. The person who is asked
 * sees it. The person's agent must be allowed to read as much as the author, and a key as for a run.
 */
function isOpenTo(engine: Engine, grant: Grant, { run, workflow }: AskRow): boolean {
  if (grant.actor.startsWith('user_') && grant.onBehalfOf === undefined) return true
  const behaviour = runAt(engine.sql, run)?.definition?.behaviour
  const stored = behaviour ? authoredWorkflow(engine, workflow, behaviour) : currentWorkflow(engine, workflow)
  return grant.onBehalfOf === undefined ? maySeeValues(engine, grant, stored) : mayRead(engine, grant, stored)
}

function askView(engine: Engine, grant: Grant, row: AskRow): JsonObject {
  const isOpen = isOpenTo(engine, grant, row)
  const time = (at: number | null): Json => (at === null ? null : isoOf(at))
  return {
    id: row.id,
    type: 'Ask',
    title: isOpen ? row.title : null,
    of: row.of,
    fields: row.fields,
    status: row.state,
    workflow: row.workflow,
    run: runAt(engine.sql, row.run)?.id ?? null,
    askedAt: isoOf(row.askedAt),
    expiresAt: time(row.due),
    answer: isOpen ? row.answer : null,
    answeredBy: row.answeredBy,
    answeredAt: time(row.answeredAt),
    ...(!isOpen && { hidden: true }),
  }
}
