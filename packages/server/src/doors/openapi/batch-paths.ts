import { ANY_OBJECT, body, ref } from './common.ts'
import { type KnownPaths, TEXT } from './known-path.ts'
import { params } from './parameters.ts'

/** What JSON-RPC answers: a message, or several at once. */
const MESSAGES = { anyOf: [ANY_OBJECT, { type: 'array', items: ANY_OBJECT }] }

/** Requests that hold several others: batches, code and MCP. */
export const BATCH_PATHS: KnownPaths = {
  'POST /batch': {
    parameters: params('dryRun', 'propose', 'reason'),
    requestBody: body(
      {
        type: 'object',
        properties: {
          atomic: { type: 'boolean', default: false },
          operations: {
            type: 'array',
            maxItems: 100,
            items: {
              type: 'object',
              properties: {
                id: { type: 'string' },
                method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
                path: { type: 'string' },
                query: ANY_OBJECT,
                body: {},
                ifMatch: { type: ['string', 'integer'] },
              },
              required: ['path'],
            },
          },
        },
        required: ['operations'],
      },
      true,
      {
        atomic: true,
        operations: [
          // No {"$ref": …} here: tools take it for a reference of the document.
          { id: 'ada', method: 'POST', path: '/Contact', body: { name: 'Ada' } },
          { id: 'qualify', method: 'POST', path: '/Contact/${ada.$id}/qualify' },
        ],
      },
      'Up to 100 operations, run in order. With atomic, all of them or none.',
    ),
    success: {
      type: 'object',
      properties: {
        correlation: { type: 'string' },
        results: {
          type: 'array',
          items: {
            type: 'object',
            properties: { id: { type: 'string' }, status: { type: 'integer' }, body: {} },
            required: ['id', 'status', 'body'],
          },
        },
      },
    },
  },
  'POST /do': {
    requestBody: body(
      {
        type: 'object',
        properties: {
          code: { type: 'string' },
          dryRun: { type: 'boolean' },
          propose: { type: 'string' },
          reason: { type: 'string' },
        },
        required: ['code'],
      },
      true,
      { code: 'await $.Contact.count()' },
      'The code to run, with $ as the tenant.',
    ),
    success: ref('CodeAnswer'),
  },
  'POST /mcp': {
    requestBody: body(
      MESSAGES,
      true,
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      'A message of JSON-RPC 2.0, or several.',
    ),
    success: MESSAGES,
    others: { 'text/event-stream': TEXT },
  },
}
