import { Problem } from '@tildebase/nouns'
import { asSteps, type Steps, type Stepwise } from '../../engine/turns.ts'
import { isId } from '../../ids.ts'
import { Recorder } from '../../write/recorder.ts'
import type { Write } from '../../write/write.ts'
import { type Changeset, openChangeset } from './changeset.ts'
import { addOperations, createChangeset } from './file.ts'
import { operationsOf } from './operations.ts'
import { replay } from './replay.ts'

/** Where a proposal goes: the title of a new changeset or the id of an open one, and why it is made. */
export interface Destination {
  readonly into: string
  readonly reason?: string | undefined
  /** The request or the code that proposes, for its reviewers. */
  readonly source?: string | undefined
}

/** What was proposed: the id of the changeset, and what the write would have given. */
export interface Proposal<T> {
  readonly changeset: string
  readonly preview: T
}

/** Tries `work` on top of what the changeset holds already, takes it back, and keeps the verbs that it asked for. */
export function* propose<T>(
  write: Write,
  { into, reason, source }: Destination,
  work: (trial: Write) => Stepwise<T>,
): Steps<Proposal<T>> {
  if (write.context.recorder) {
    throw new Problem('invalid_operation', 'This is already proposed. Set propose once, for the whole batch.', {
      field: 'propose',
    })
  }
  const target = targetOf(write, into)
  const recorder = new Recorder()
  const { result } = yield* write.transaction.dryRunInSteps(function* () {
    yield* replayEarlier(write, target)
    const preview = yield* asSteps(work(write.within({ isDryRun: true, recorder })))
    // Copied: going back takes verbs out of the recorder, as it does for a part of a batch that fails.
    return { preview, verbs: [...recorder.verbs] }
  })
  const { preview, verbs } = result
  if (verbs.length === 0) {
    throw new Problem(
      'invalid_operation',
      'There is nothing to propose: the request runs no verb on an entity. Schemas, hooks, imports and syncs cannot be proposed.',
      { field: 'propose' },
    )
  }
  const { entity } = target
    ? addOperations(write, target, verbs)
    : createChangeset(write, { title: into, reason, source }, verbs)
  return { changeset: entity.id, preview }
}

/** Brings a trial to where a proposal for this changeset begins. */
export function beginProposal(write: Write, into: string): Steps<void> {
  return replayEarlier(write, targetOf(write, into))
}

function* replayEarlier(write: Write, target: Changeset | null): Steps<void> {
  const earlier = target ? operationsOf(write.engine, target) : []
  yield* replay(write.within({ isDryRun: true, recorder: new Recorder() }), earlier)
}

function targetOf(write: Write, into: string): Changeset | null {
  return isId(into, 'changeset') ? addressed(write, into) : null
}

/** The changeset to add to. Only its author can add to it, because the author is responsible for its content. */
function addressed({ engine, grant }: Write, id: string): Changeset {
  const changeset = openChangeset(engine, grant, id, 'propose')
  if (changeset.author === grant.actor) return changeset
  throw new Problem('forbidden', 'Only its author can add to a changeset. Propose a new one.', {
    type: 'Changeset',
    id,
  })
}
