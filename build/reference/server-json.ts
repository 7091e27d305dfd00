import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './source.ts'

const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json'

/** The entry of this service in the MCP registry: how to connect to a service, and how to start the bridge over standard input. */
export function serverJson(): string {
  const { name, version, mcpName } = JSON.parse(readFileSync(join(ROOT, 'packages/tildebase/package.json'), 'utf8'))
  const { homepage, repository } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const entry = {
    $schema: SCHEMA,
    name: mcpName,
    title: 'Tildebase',
    description: 'Typed business entities with verbs, events, history and proposals that people approve.',
    version,
    websiteUrl: homepage.replace(/#.*/, ''),
    repository: { url: repository.url.replace(/^git\+|\.git$/g, ''), source: 'github' },
    remotes: [
      {
        type: 'streamable-http',
        url: 'https://{host}/~{tenant}/mcp',
        variables: {
          host: { description: 'The host of your service.', isRequired: true, placeholder: 'tilde.example.com' },
          tenant: { description: 'The name of the tenant.', isRequired: true, placeholder: 'acme' },
        },
      },
    ],
    packages: [
      {
        registryType: 'npm',
        identifier: name,
        version,
        runtimeHint: 'npx',
        transport: { type: 'stdio' },
        packageArguments: [{ type: 'positional', value: 'mcp' }],
        environmentVariables: [
          { name: 'TILDE_URL', description: 'The address of your service.', isRequired: true },
          { name: 'TILDE_KEY', description: 'A key of the tenant.', isRequired: true, isSecret: true },
        ],
      },
    ],
  }
  return `${JSON.stringify(entry, null, 2)}\n`
}
