import { isPlainObject, type JsonObject, sameJson } from '@tildebase/nouns'
import { type Authored, inherit, type Thing } from '../../authorship/stored.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Steps } from '../../engine/turns.ts'
import { addWait, openWaits } from '../../store/automation/waits.ts'
import { changeDefinition, definitionsAfter, type RunDefinition } from '../../store/automation/workflow-runs.ts'
import { allOf } from '../../store/entities.ts'
import { changeArguments } from '../../store/outgoing/event-subscriptions.ts'
import { applyVerb } from '../../write/verb.ts'
import type { Write } from '../../write/write.ts'
import { allEventSubscriptions } from '../event-subscriptions/holder.ts'
import { authoredWebhook, webhookForm, webhookThing } from '../webhooks/author.ts'
import { authoredWorkflow, behaviourOf, workflowThing } from '../workflows/author.ts'
import { forgetWaits } from '../workflows/steps/wait-for.ts'
import { isAbout, type Renaming, renamedBehaviour, renamedFilter, renamedRecordFilter } from './renamed.ts'

const PAGE = 500

/**
 * Gives a renamed field its new name in what reads it by name: workflows and their runs, webhooks, waits and subscriptions
 * of agents. Each keeps its author, since it does the same as before. Code is not changed.
 */
export function* renameInStored(write: Write, renaming: Renaming): Steps<void> {
  for (const { id, data } of allOf(write.sql, 'Workflow')) renameInWorkflow(write, id, JSON.parse(data), renaming)
  yield
  for (const { id, data } of allOf(write.sql, 'Webhook')) renameInWebhook(write, id, JSON.parse(data), renaming)
  yield
  yield* renameInRuns(write.engine, renaming)
  renameInSubscriptions(write.engine, renaming)
  yield* renameInWaits(write.engine, renaming)
}

function renameInWorkflow(write: Write, id: string, state: JsonObject, renaming: Renaming): void {
  const behaviour = behaviourOf(state)
  const renamed = renamedBehaviour(behaviour, renaming)
  if (sameJson(renamed, behaviour)) return
  const { engine } = write
  keepAuthor(engine, workflowThing(id), authoredWorkflow(engine, id, state), renamed)
  applyVerb(write, { type: 'Workflow', verb: 'update', id, data: renamed })
}

function renameInWebhook(write: Write, id: string, state: JsonObject, renaming: Renaming): void {
  const { filter, events } = state
  if (!isPlainObject(filter) || !Array.isArray(events)) return
  const renamed = renamedRecordFilter(filter as JsonObject, events as string[], renaming)
  if (sameJson(renamed, filter as JsonObject)) return
  const { engine } = write
  keepAuthor(engine, webhookThing(id), authoredWebhook(engine, id, state), webhookForm({ ...state, filter: renamed }))
  applyVerb(write, { type: 'Webhook', verb: 'update', id, data: { filter: renamed } })
}

function keepAuthor(engine: Engine, thing: Thing, stored: Authored<unknown> | null, form: JsonObject): void {
  if (stored !== null) inherit(engine, thing, form, stored.author)
}

/** Runs that have ended, too: one that failed is tried again with the definition that it had. */
function* renameInRuns(engine: Engine, renaming: Renaming): Steps<void> {
  const known = new Map<string, string>()
  for (let last = 0; ; ) {
    const page = definitionsAfter(engine.sql, last, PAGE)
    for (const { n, workflow, trigger, text } of page) {
      if (trigger === 'call') continue
      const key = `${workflow} ${text}`
      const renamed = known.get(key) ?? renamedDefinition(engine, workflow, text, renaming)
      known.set(key, renamed)
      if (renamed !== text) changeDefinition(engine.sql, n, renamed)
    }
    yield
    if (page.length < PAGE) return
    last = page.at(-1)!.n
  }
}

function renamedDefinition(engine: Engine, workflow: string, text: string, renaming: Renaming): string {
  const definition = JSON.parse(text) as RunDefinition
  const behaviour = renamedBehaviour(definition.behaviour, renaming)
  if (sameJson(behaviour, definition.behaviour)) return text
  const stored = authoredWorkflow(engine, workflow, definition.behaviour)
  keepAuthor(engine, workflowThing(workflow), stored, behaviourOf(behaviour))
  return JSON.stringify({ ...definition, behaviour })
}

function* renameInWaits(engine: Engine, renaming: Renaming): Steps<void> {
  const noun = renaming.nouns.get(renaming.type)!
  for (let last = { run: 0, step: -1 }; ; ) {
    const page = openWaits(engine.sql, last, PAGE)
    for (const { seq: _, ...wait } of page) {
      if (!isAbout(wait.pattern, renaming)) continue
      const filter = JSON.stringify(renamedFilter(JSON.parse(wait.filter), noun, renaming))
      const field = wait.field === renaming.from ? renaming.to : wait.field
      if (filter !== wait.filter) addWait(engine.sql, { ...wait, field, filter })
    }
    yield
    if (page.length < PAGE) break
    last = page.at(-1)!
  }
  forgetWaits(engine)
}

function renameInSubscriptions(engine: Engine, renaming: Renaming): void {
  const noun = renaming.nouns.get(renaming.type)!
  for (const { id, name, arguments: text } of allEventSubscriptions(engine)) {
    const given = JSON.parse(text) as JsonObject
    if (!isAbout(name, renaming) || !isPlainObject(given.filter)) continue
    const renamed = JSON.stringify({ ...given, filter: renamedFilter(given.filter as JsonObject, noun, renaming) })
    if (renamed !== text) changeArguments(engine.sql, id, renamed)
  }
  engine.cache.forget('EventSubscription')
}
