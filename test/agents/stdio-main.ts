import { bridgeMcp } from '../../packages/cli/src/link/mcp.ts'

const [url, key] = process.argv.slice(2)
await bridgeMcp({ input: process.stdin, output: process.stdout, url: url!, key: key! })
