import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { build } from 'esbuild'
import { ROOT } from '../root-key.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
/** The program itself. The package's own command starts it as a child, which a kill -9 of the command would leave behind. */
const WORKERD: string = createRequire(join(REPOSITORY, 'test', 'package.json'))('workerd').default

/** A real workerd with the bundle of a Worker in it. */
export interface Workerd {
  /** Where the objects have their databases. */
  readonly storage: string
  readonly url: string
  readonly process: ChildProcess
  /** Ends the process as a power cut would, and starts another on the same storage; at a port, for clients that continue. */
  crash(port?: string): Promise<void>
  stop(): Promise<void>
}

export interface WorkerdOptions {
  /** The Worker, as a file of this repository. */
  readonly entry: string
  /** The classes of its objects, and the bindings to them. */
  readonly objects: { readonly [binding: string]: string }
  readonly variables?: { readonly [name: string]: string }
  /** How many MiB the heap of each isolate may have. */
  readonly heapMib?: number
  /** Whether the Worker can load others; it can by default. */
  readonly loader?: boolean
  /** More of the Worker's bindings, as workerd's configuration has them. */
  readonly bindings?: readonly string[]
}

/** The service on workerd. */
export const SERVICE: WorkerdOptions = {
  entry: 'packages/server/src/workerd/worker.ts',
  objects: { TENANTS: 'TenantObject', DIRECTORY: 'TenantDirectory' },
}

/** Bundles a Worker and starts workerd with it, on a free port and with its own storage. */
export async function startWorkerd(options: WorkerdOptions): Promise<Workerd> {
  const prepared = await prepareWorkerd(options)
  let running = await prepared.run()
  return {
    storage: prepared.storage,
    get url() {
      return running.url
    },
    get process() {
      return running.process
    },
    async crash(port) {
      await running.end('SIGKILL')
      running = await prepared.run(port)
    },
    async stop() {
      await running.end('SIGTERM')
      prepared.remove()
    },
  }
}

/** A workerd that runs. */
export interface Running {
  readonly url: string
  readonly process: ChildProcess
  end(signal: NodeJS.Signals): Promise<void>
}

/** Bundles a Worker and lays out its storage, for workerd to be started on again and again. */
export async function prepareWorkerd(options: WorkerdOptions) {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-workerd-'))
  const storage = join(folder, 'storage')
  mkdirSync(storage)
  writeFileSync(join(folder, 'worker.js'), await bundleOf(options.entry))
  writeFileSync(join(folder, 'config.capnp'), configuration(options))
  return {
    storage,
    run: (port?: string) => run(folder, port),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Those that this process has made: the sources do not change while it runs. */
const bundles = new Map<string, Promise<Uint8Array>>()

function bundleOf(entry: string): Promise<Uint8Array> {
  const known = bundles.get(entry) ?? bundle(entry)
  bundles.set(entry, known)
  return known
}

/** One module, as wrangler would make it. */
async function bundle(entry: string): Promise<Uint8Array> {
  await buildIsolates()
  const { outputFiles } = await build({
    entryPoints: [join(REPOSITORY, entry)],
    write: false,
    bundle: true,
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    external: ['node:*', 'cloudflare:*'],
    logLevel: 'error',
  })
  return outputFiles[0]!.contents
}

/** What the Worker loads into isolates is built after every install; it may be older than the sources. */
async function buildIsolates(): Promise<void> {
  await import(`${REPOSITORY}/packages/server/build.js`)
}

function configuration({ objects, variables, loader = true, heapMib, bindings = [] }: WorkerdOptions): string {
  const texts = Object.entries({ TILDE_ROOT_KEY: ROOT, ...variables })
    .map(([name, text]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(text)})`)
    .join(', ')
  const classes = Object.values(objects).map(
    (name) => `(className = "${name}", uniqueKey = "${name}", enableSql = true)`,
  )
  const namespaces = Object.entries(objects).map(
    ([name, type]) => `(name = "${name}", durableObjectNamespace = "${type}")`,
  )
  return `
    using Workerd = import "/workerd/workerd.capnp";
    const config :Workerd.Config = (
      services = [
        (name = "main", worker = .worker),
        (name = "storage", disk = (path = "storage", writable = true)),
        (name = "internet", network = (allow = ["local"])),
      ],
      ${heapMib === undefined ? '' : `v8Flags = ["--max-heap-size=${heapMib}"],`}
      sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
    );
    const worker :Workerd.Worker = (
      modules = [(name = "worker.js", esModule = embed "worker.js")],
      compatibilityDate = "2026-10-01",
      durableObjectNamespaces = [${classes.join(', ')}],
      durableObjectStorage = (localDisk = "storage"),
      bindings = [
        ${namespaces.join(', ')},
        ${loader ? '(name = "LOADER", workerLoader = ()),' : ''}
        ${[...bindings, texts].join(', ')}
      ],
    );
  `
}

async function run(folder: string, port?: string): Promise<Running> {
  const at = port === undefined ? [] : [`--socket-addr=http=127.0.0.1:${port}`]
  const process = spawn(WORKERD, ['serve', 'config.capnp', '--control-fd=1', '--experimental', ...at], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: process.stdout! })) {
    const told = JSON.parse(line)
    if (told.event === 'listen')
      return { url: `http://127.0.0.1:${told.port}`, process, end: (signal) => end(process, signal) }
  }
  throw new Error('workerd ended before it listened.')
}

async function end(process: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return
  process.kill(signal)
  await once(process, 'exit')
}
