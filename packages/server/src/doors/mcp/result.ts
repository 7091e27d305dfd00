import type { CallToolResult } from '@modelcontextprotocol/server'

/** What answers a request of the protocol. */
export type Answer = { readonly [name: string]: unknown }

/** The result of a tool: the same for models that read text and for programs. */
export function resultOf(answer: object, meta?: { readonly [name: string]: unknown }): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(answer) }],
    structuredContent: { ...answer },
    ...(meta && { _meta: { ...meta } }),
  }
}
