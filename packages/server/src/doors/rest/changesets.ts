import { isPlainObject, Problem } from '@tildebase/nouns'
import { entityView, type Steps, type TenantWriter } from '@tildebase/tenant'
import { MOST_UNKNOWN } from '@tildebase/tenant/internal'
import type { Call, Route } from '../call.ts'
import { answer, jsonBody, PROPOSE, READ_ERRORS } from '../describe/description.ts'
import { ANY_OBJECT, either, record, ref, TEXT, WHOLE } from '../describe/schema.ts'
import { createdReply, json, type Reply } from '../reply.ts'
import { readRoute, routeOfType, writeRoute } from '../route.ts'
import { AGGREGATE, measure } from './aggregate.ts'
import { COUNT, CREATED, countAll, LIST, list, read } from './entities.ts'
import { type ForkMerge, readFork } from './fork-merge.ts'
import { unknownInParts, warned } from './unknown-fields.ts'

/** A changeset from operations, or from what a fork did. */
const GIVEN = record(
  '',
  {
    title: TEXT,
    reason: TEXT,
    from: { ...TEXT, description: 'A fork of this tenant.' },
    key: { ...TEXT, description: 'A key of the fork.' },
    base: { ...WHOLE, description: 'The seq of the state that the operations refer to.' },
    operations: { type: 'array', maxItems: 10_000, items: ANY_OBJECT },
  },
  [],
)

/** What a changeset has in addition to the verbs of every type, and what a fork did. */
export const changesetRoutes: readonly Route[] = [
  routeOfType(LIST, 'Changeset', { needs: 'read on any area', handle: ofChangesets(list) }),
  routeOfType(COUNT, 'Changeset', { needs: 'read on any area', handle: ofChangesets(countAll) }),
  routeOfType(AGGREGATE, 'Changeset', { needs: 'read on any area', handle: ofChangesets(measure) }),
  writeRoute('GET /Changeset/:id', {
    summary: 'Read a changeset with its diff and conflicts',
    needs: 'read on the types involved',
    params: ['asOf'],
    errors: READ_ERRORS,
    answers: {
      200: answer(either(ref('ChangesetReview'), ref('Changeset')), {
        description: 'The changeset.',
        headers: ['ETag'],
      }),
    },
    readsItsOwn: true,
    handle: review,
  }),
  writeRoute('GET /Changeset/:id/effect', {
    summary: 'Read which metrics, counts and sums a changeset would change',
    errors: READ_ERRORS,
    needs: 'read on the types involved',
    answers: { 200: answer(ref('ChangesetEffect')) },
    readsItsOwn: true,
    handle: measureEffect,
  }),
  writeRoute('POST /Changeset', {
    summary: 'Create a changeset from operations or from a fork',
    needs: 'write on any area',
    params: ['dryRun', ...PROPOSE],
    body: jsonBody(
      either(ref('ChangesetDraft'), GIVEN),
      { title: 'Clean up leads' },
      'A title alone, operations, or the name of a fork.',
    ),
    answers: CREATED,
    prepare: readFork,
    readsItsOwn: true,
    taskResult: ['$id'],
    handle: create,
  }),
  readRoute('GET /fork', {
    summary: 'Read the operations of this fork',
    needs: 'read on the types involved',
    answers: { 200: answer(ANY_OBJECT) },
    handle: ({ read: reader }) => json(200, reader.forkChanges()),
  }),
]

/** Has a handler of entities answer about changesets. */
function ofChangesets<R>(handle: (call: Call) => R): (call: Call) => R {
  return (call) => handle({ ...call, params: { ...call.params, type: 'Changeset' } })
}

/** Tries the changeset on the current state, and takes that back. */
function* review(call: Call, write: TenantWriter): Steps<Reply> {
  if (call.query.has('asOf')) return ofChangesets(read)(call)
  const { changeset, operations, diff, conflicts, messages } = yield* write.review(call.params.id!)
  return json(
    200,
    { ...entityView(changeset.entity, call.context), operations, diff, conflicts, messages },
    { etag: `"${changeset.entity.version}"` },
  )
}

function* measureEffect({ params }: Call, write: TenantWriter): Steps<Reply> {
  return json(200, yield* write.effect(params.id!))
}

function* create(call: Call, write: TenantWriter): Steps<Reply> {
  const fork = call.prepared as ForkMerge | undefined
  const body = fork?.body ?? call.body
  if (!isPlainObject(body) || body.operations === undefined) {
    if (isPlainObject(body) && body.from !== undefined) throw noFork()
    return createdReply(write.run({ type: 'Changeset', verb: 'create', data: body }), call.context)
  }
  const given = Array.isArray(body.operations) ? body.operations.filter(isPlainObject) : []
  const unknown = unknownInParts(call, given).slice(0, MOST_UNKNOWN)
  const { result, conflicts } = yield* write.createChangeset(body)
  const { entity, operations } = write.changeset(result.entity.id)
  const { headers } = createdReply(result, call.context)
  const review = { ...entityView(entity, call.context), operations, conflicts, ...(fork && { skipped: fork.skipped }) }
  return warned(json(201, review, headers), unknown)
}

/** The fork is read before the commit, which a batch has already begun. */
function noFork(): Problem {
  return new Problem('invalid_operation', 'from cannot be part of a batch. Send it as a separate request.', {
    field: 'from',
  })
}
