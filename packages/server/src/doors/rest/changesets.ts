import { isPlainObject, Problem } from '@tildebase/nouns'
import { entityView, type TenantWriter } from '@tildebase/tenant'
import type { Call, Route } from '../call.ts'
import { json, type Reply } from '../reply.ts'
import { measure } from './aggregate.ts'
import { countAll, createdReply, list, read } from './entities.ts'
import { type ForkMerge, readFork } from './fork-merge.ts'

/** What a changeset has in addition to the verbs of every type, under both of its names, and what a fork did. */
export const changesetRoutes: readonly Route[] = [
  ...['changesets', 'Changeset'].flatMap((name): Route[] => [
    {
      method: 'GET',
      path: `/${name}`,
      needs: { action: 'read', on: 'each' },
      mode: 'read',
      summary: 'List changesets',
      handle: ofChangesets(list),
    },
    {
      method: 'GET',
      path: `/${name}/count`,
      needs: { action: 'read', on: 'each' },
      mode: 'read',
      summary: 'Count changesets',
      handle: ofChangesets(countAll),
    },
    {
      method: 'GET',
      path: `/${name}/aggregate`,
      needs: { action: 'read', on: 'each' },
      mode: 'read',
      summary: 'Count, sum and average changesets by group',
      handle: ofChangesets(measure),
    },
    {
      method: 'GET',
      path: `/${name}/:id`,
      needs: 'key',
      mode: 'write',
      summary: 'Read a changeset with its diff and conflicts',
      handle: review,
    },
    {
      method: 'GET',
      path: `/${name}/:id/effect`,
      needs: 'key',
      mode: 'write',
      summary: 'Read which metrics, counts and sums a changeset would change',
      handle: ({ params }, write) => json(200, write.effect(params.id!)),
    },
    {
      method: 'POST',
      path: `/${name}`,
      needs: 'key',
      mode: 'write',
      summary: 'Create a changeset from operations or from a fork',
      prepare: readFork,
      handle: create,
    },
  ]),
  {
    method: 'GET',
    path: '/fork',
    needs: { action: 'read', on: 'each' },
    mode: 'read',
    summary: 'Read the operations of this fork',
    handle: ({ read: reader }) => json(200, reader.forkChanges()),
  },
]

/** Has a handler of entities answer about changesets. */
function ofChangesets(handle: (call: Call) => Reply): (call: Call) => Reply {
  return (call) => handle({ ...call, params: { ...call.params, type: 'Changeset' } })
}

/** Tries the changeset on the current state, and takes that back. */
function review(call: Call, write: TenantWriter): Reply {
  if (call.query.has('asOf')) return ofChangesets(read)(call)
  const { changeset, operations, diff, conflicts, messages } = write.review(call.params.id!)
  return json(
    200,
    { ...entityView(changeset.entity, call.context), operations, diff, conflicts, messages },
    { etag: `"${changeset.entity.version}"` },
  )
}

function create(call: Call, write: TenantWriter): Reply {
  const fork = call.prepared as ForkMerge | undefined
  const body = fork?.body ?? call.body
  if (!isPlainObject(body) || body.operations === undefined) {
    if (isPlainObject(body) && body.from !== undefined) throw noFork()
    return createdReply(write.run({ type: 'Changeset', verb: 'create', data: body }), call.context)
  }
  const { result, conflicts } = write.createChangeset(body)
  const { entity, operations } = write.changeset(result.entity.id)
  const { headers } = createdReply(result, call.context)
  return json(
    201,
    { ...entityView(entity, call.context), operations, conflicts, ...(fork && { skipped: fork.skipped }) },
    headers,
  )
}

/** The fork is read before the commit, which a batch has already begun. */
function noFork(): Problem {
  return new Problem('invalid_operation', 'from cannot be part of a batch. Send it as a separate request.', {
    field: 'from',
  })
}
