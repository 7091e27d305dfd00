import { parseArgs } from 'node:util'
import { readSettings, SettingError, startHost } from '@tildebase/server'

const FLAGS = ['port', 'host', 'data', 'host-suffix', 'workers', 'config', 'base-url'] as const

/** Serves tenants until it is told to stop. */
export async function serve(args: readonly string[]): Promise<void> {
  try {
    const options = Object.fromEntries(FLAGS.map((flag) => [flag, { type: 'string' as const }]))
    const { values } = parseArgs({ args: [...args], options })
    const host = await startHost(readSettings(values as { [flag: string]: string }, process.env))
    process.stdout.write(greeting(host))
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => void host.stop().then(() => process.exit(0)))
    }
  } catch (reason) {
    process.stderr.write(`tilde serve: ${sentence(reason)}\n`)
    process.exitCode = 2
  }
}

function greeting({ url, operator }: Awaited<ReturnType<typeof startHost>>): string {
  const key = operator.generated ? operator.key : '$TILDE_ROOT_KEY'
  const lines = [`Tildebase listens on ${url}`]
  if (operator.generated)
    lines.push(`The operator's key, shown this once and kept in ${operator.path}:`, '', `  ${operator.key}`)
  else if (operator.path) lines.push(`The operator's key is in ${operator.path}`)
  lines.push(
    '',
    'Create a contact:',
    '',
    `  curl -s ${url}/~acme/Contact -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '{"name":"Ada"}'`,
    '',
  )
  return `${lines.join('\n')}\n`
}

function sentence(reason: unknown): string {
  if (reason instanceof SettingError) return reason.message
  const { code, message } = reason as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return 'The port is taken. Choose another with --port, or stop the program that has it.'
  if (code === 'EACCES') return `${message}. Choose a port above 1023 and a data folder that you may write to.`
  return message
}
