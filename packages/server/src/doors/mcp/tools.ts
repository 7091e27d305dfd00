import type { Tool } from '@modelcontextprotocol/server'
import { onlyProposes } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import { surfacedNouns, typesText } from './types-text.ts'

/** The tools, described with the types of this tenant that this lens surfaces. A host that runs no code has no `do`. */
export function toolsFor(call: Pick<Call, 'tenant' | 'read' | 'lens' | 'grant'>): Tool[] {
  if (!call.tenant.runsCode) return [searchTool(typesText(surfacedNouns(call))), FETCH]
  const code = onlyProposes(call.grant) ? { ...DO, description: `${PROPOSES} ${DO.description}` } : DO
  return [searchTool(typesText(surfacedNouns(call))), FETCH, code]
}

/** The instructions for an agent that can only propose. */
export const PROPOSES =
  'You can only propose: writes are not executed, but stored as a changeset for a person to approve. The answer has its $id and the url of the page where the person decides; fetch type "Changeset" with that id to see its state.'

const TYPE = { type: 'string', description: 'Name of a type' } as const
// Not a list of types: some clients translate schemas into a language where a value has one type.
const TEXT_OR_NULL = { anyOf: [{ type: 'string' }, { type: 'null' }] } as const

const INCLUDE = {
  type: 'array',
  items: { type: 'string' },
  description: 'Relations to embed: ["organization"]',
} as const
const FIELDS = { type: 'array', items: { type: 'string' }, description: 'Show only these' } as const
const AS_OF = { type: 'string', description: 'The past: a time, "7d ago", or a seq' } as const
const STRICT = { type: 'boolean' } as const

function searchTool(types: string): Tool {
  return {
    name: 'search',
    title: 'Search entities',
    description: `Find entities of a type. Types (* required, > relation):\n${types}`,
    inputSchema: {
      type: 'object',
      properties: {
        type: TYPE,
        filter: {
          type: 'object',
          description:
            'MongoDB style: {"stage":"Lead","organization.name":{"$regex":"^A"}}. $eq $ne $gt $gte $lt $lte $in $nin $exists $regex $and $or $not, $text for words',
        },
        sort: {
          anyOf: [{ type: 'object' }, { type: 'string' }],
          description: '{"value":-1} or "-value"; default newest first',
        },
        limit: { type: 'integer', minimum: 1, maximum: 100, description: '25 without' },
        cursor: { type: 'string', description: 'From the previous answer, for the next page' },
        include: INCLUDE,
        fields: FIELDS,
        asOf: AS_OF,
        strict: STRICT,
      },
      required: ['type'],
    },
    outputSchema: {
      type: 'object',
      properties: {
        results: { type: 'array', items: { type: 'object' } },
        total: { type: 'integer' },
        hasMore: { type: 'boolean' },
        cursor: TEXT_OR_NULL,
      },
      required: ['results', 'hasMore'],
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

const FETCH: Tool = {
  name: 'fetch',
  title: 'Fetch one entity',
  description:
    'Read one entity by its $id. Also type "Schema" (id: a type, or none for all) for fields and verbs, "Metric" (id: mrr, pipeline, …), "Status", "Changeset", "Ask" (id, or none for all that wait). $files: the text of small text files, links to others.',
  inputSchema: {
    type: 'object',
    properties: {
      type: TYPE,
      id: { type: 'string' },
      include: INCLUDE,
      fields: FIELDS,
      asOf: AS_OF,
      strict: STRICT,
    },
    required: ['type'],
  },
  outputSchema: { type: 'object' },
  annotations: { readOnlyHint: true, openWorldHint: false },
}

const DO: Tool = {
  name: 'do',
  title: 'Run code',
  description: `Run TypeScript to read and change entities; the last expression is the result. No network. Example:
const lead = await $.Contact.findOne({ email: 'a@b.c' })
await $.Contact.qualify(lead.$id)
await $.Deal.create({ name: 'First', contact: lead.$id })
$.Type has find(filter, {sort, limit, include, asOf}), findOne, findPage (with cursor), get(id), count(filter), aggregate({group, sum, avg, min, max, filter}), history(id), create(fields), update(id, fields), delete(id), and each verb(id, args). $.events({type, since, limit}) reads the log, $.metrics() or $.metrics('mrr') the numbers. With dryRun nothing is written and the events are shown. $.undo(correlation) takes a run back. With propose (a title or a changeset id) the writes are filed for approval.`,
  inputSchema: {
    type: 'object',
    properties: {
      code: { type: 'string' },
      dryRun: { type: 'boolean' },
      propose: { type: 'string' },
      reason: { type: 'string' },
    },
    required: ['code'],
  },
  outputSchema: {
    type: 'object',
    properties: {
      logs: { type: 'array', items: { type: 'string' } },
      correlation: TEXT_OR_NULL,
      events: { type: 'array', items: { type: 'object' } },
      changeset: { anyOf: [{ type: 'object' }, { type: 'null' }] },
    },
    required: ['result', 'logs', 'correlation'],
  },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
}
