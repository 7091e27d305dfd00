import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { COMMAND } from '../prepare/command.ts'

export const KEY = 'root-key-of-the-tests-which-is-long-enough'
const REPOSITORY = join(import.meta.dirname, '..', '..')

export interface Server {
  readonly url: string
  readonly process: ChildProcess
  /** kill -9: nothing is flushed, no connection is closed. */
  kill(): Promise<void>
}

/** A host in its own process. */
export async function startServer(
  data: string,
  env: Record<string, string> = {},
  flags: readonly string[] = [],
  /** A command that runs the server under other rights. */
  under: readonly string[] = [],
  /** A copy of the repository with other code. */
  checkout = REPOSITORY,
): Promise<Server> {
  const main = checkout === REPOSITORY ? COMMAND : join(checkout, 'packages/cli/src/main.ts')
  const [program, ...words] = [...under, process.execPath, main, 'serve', '--port', '0', '--data', data, ...flags]
  const child = spawn(program!, words, {
    env: { ...process.env, TILDE_ROOT_KEY: KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  child.stderr!.on('data', (chunk) => {
    said += chunk
  })
  const url = await new Promise<string>((done, failed) => {
    let out = ''
    child.stdout!.on('data', (chunk) => {
      out += chunk
      const found = /http:\/\/[^\s]+/.exec(out)
      if (found) done(found[0])
    })
    child.once('exit', (code) => failed(new Error(`The server ended with ${code}: ${said}`)))
  })
  child.removeAllListeners('exit')
  return {
    url,
    process: child,
    async kill() {
      const gone = once(child, 'exit')
      child.kill('SIGKILL')
      await gone
    },
  }
}

/** Settings under which a host delivers to loopback, and repeats soon. */
export const WEBHOOKS = {
  TILDE_WEBHOOKS_INSECURE: '1',
  TILDE_WEBHOOK_TIMEOUT: '2s',
  TILDE_WEBHOOK_RETRIES: '300ms,1s,1s,1s,1s',
}

/** Starts a host on the data of an earlier one. */
export type Start = (data: string) => Promise<Server>

/** The same service on workerd. The data are in its own folder. */
async function startsOnWorkerd(): Promise<{ readonly start: Start; remove(): void }> {
  // What bundles the Worker is a tool of the tests: a bench does without.
  const { prepareWorkerd, SERVICE } = await import('../hosts/workerd.ts')
  const prepared = await prepareWorkerd({ ...SERVICE, variables: WEBHOOKS })
  return {
    async start() {
      const { url, process, end } = await prepared.run()
      return { url, process, kill: () => end('SIGKILL') }
    },
    remove: prepared.remove,
  }
}

/** Runs a script of faults on a host. */
export const HOSTS: { readonly [host: string]: <T>(run: (start?: Start) => Promise<T>) => Promise<T> } = {
  Node: (run) => run(),
  workerd: async (run) => {
    const { start, remove } = await startsOnWorkerd()
    return run(start).finally(remove)
  },
}

export interface Reply {
  readonly status: number
  readonly body: any
}

/** One request; null when the connection broke before an answer came. */
export async function ask(
  url: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply | null> {
  try {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? null : JSON.parse(text) }
  } catch {
    return null
  }
}
