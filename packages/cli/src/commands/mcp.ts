import type { Command } from '../command.ts'
import { bridgeMcp } from '../link/mcp.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

export const command: Command = {
  usage: 'mcp',
  summary: 'runs an MCP server on standard input and output, for programs that start their own MCP servers',
  flags: {},
  examples: ['tilde mcp', 'tilde mcp --url http://crm.localhost:8787'],
  async run(call) {
    someWords(call, [])
    const { url, key } = call.settings
    const { root } = call.link()
    if (key === undefined) throw new UsageError('No key is given. Use --key, set TILDE_KEY, or run: tilde login')
    await bridgeMcp({ input: process.stdin, output: process.stdout, url: `${url.replace(/\/+$/, '')}${root}/mcp`, key })
  },
}
