import { DOCUMENTATION } from '@tildebase/nouns'
import { activatedSocket, readSettings, startHost } from '@tildebase/server'
import type { Command } from '../command.ts'
import { startFailure } from '../failure.ts'
import { UsageError } from '../parse/usage-error.ts'

/** Serves tenants until it is stopped. */
export const command: Command = {
  usage: 'serve',
  summary: 'serves tenants over HTTP until it is stopped',
  flags: {
    port: { type: 'string', help: 'the port to listen on (TILDE_PORT; 8787)' },
    host: { type: 'string', help: 'the address to listen on (TILDE_HOST; 127.0.0.1)' },
    data: { type: 'string', help: 'the data folder (TILDE_DATA; ./data)' },
    'host-suffix': {
      type: 'string',
      help: 'the base host; the labels before it select the lens (TILDE_HOST_SUFFIX; localhost)',
    },
    workers: { type: 'string', help: 'threads for tenants (TILDE_WORKERS)' },
    'create-tenants': {
      type: 'string',
      help: 'how tenants are created: write (by the first write) or operator (TILDE_CREATE_TENANTS; write)',
    },
    config: { type: 'string', help: 'a file of nouns and hooks (TILDE_CONFIG)' },
    'base-url': { type: 'string', help: 'the address as clients see it (TILDE_BASE_URL)' },
    cluster: { type: 'string', help: 'the PostgreSQL that the nodes of a cluster share (TILDE_CLUSTER)' },
    'node-name': { type: 'string', help: 'the name of this node in the cluster (TILDE_NODE_NAME; the host name)' },
    demo: { type: 'boolean', help: 'fills the tenant demo with a company of two years' },
    advertise: { type: 'string', help: 'where other nodes reach this one (TILDE_ADVERTISE)' },
  },
  examples: [
    'tilde serve',
    'tilde serve --demo',
    'tilde serve --port 9000 --data /var/lib/tildebase',
    'tilde serve --config ./tilde.config.ts',
    'tilde serve --cluster postgres://tilde@pg1,pg2,pg3/tilde --advertise http://10.0.0.1:8787',
  ],
  async run({ flags, words }) {
    if (words.length > 0) throw new UsageError(`serve accepts only flags, not ${words[0]}.`)
    try {
      const names = Object.keys(command.flags).filter((name) => name !== 'demo')
      const values = Object.fromEntries(names.map((name) => [name, flags.text(name)]))
      const settings = readSettings(values, process.env)
      const host = await startHost(settings, { socket: activatedSocket(process.env) })
      process.stdout.write(greeting(host))
      if (flags.has('demo')) process.stdout.write(await demo(host))
      for (const signal of ['SIGINT', 'SIGTERM'] as const) {
        process.once(signal, () => void host.stop().then(() => process.exit(0)))
      }
    } catch (reason) {
      throw startFailure(reason)
    }
  },
}

/** Fills the demo, and says where it is. */
async function demo({ url, operator }: Awaited<ReturnType<typeof startHost>>): Promise<string> {
  const { DEMO, loadDemo } = await import('@tildebase/client/demo')
  const loaded = await loadDemo(url, operator.key, Date.now())
  const what = loaded ? `has ${loaded.events} events (${loaded.seconds.toFixed(1)} s)` : 'is there already'
  return `\nThe tenant ${DEMO} ${what}: ${url}/console\n`
}

function greeting({ url, operator }: Awaited<ReturnType<typeof startHost>>): string {
  const key = operator.generated ? operator.key : operator.path ? `$(cat '${operator.path}')` : '$TILDE_ROOT_KEY'
  const lines = [
    `Tildebase listens on ${url}`,
    `Console: ${url}/console, API: ${url}/docs, documentation: ${DOCUMENTATION}`,
  ]
  if (operator.generated)
    lines.push(`The operator key, shown only once and stored in ${operator.path}:`, '', `  ${operator.key}`)
  else if (operator.path) lines.push(`The operator key is in ${operator.path}`)
  lines.push(
    '',
    'Create a contact:',
    '',
    `  curl -s ${url}/~acme/Contact -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -d '{"name":"Ada"}'`,
    '',
  )
  return `${lines.join('\n')}\n`
}
