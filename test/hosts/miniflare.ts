import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import { ROOT } from '../host.ts'

const REPOSITORY = join(import.meta.dirname, '..', '..')
const SERVER = join(REPOSITORY, 'packages', 'server')
const WRANGLER = join(REPOSITORY, 'test', 'node_modules', 'wrangler', 'bin', 'wrangler.js')

/** What `wrangler deploy --dry-run` made of the service, with our own configuration. */
export interface Bundle {
  readonly worker: string
  /** What wrangler said. */
  readonly said: string
  remove(): void
}

/** Bundles the service as a deployment would. */
export async function dryRun(): Promise<Bundle> {
  await import(`${SERVER}/build.js`)
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-wrangler-'))
  const wrangler = spawn(process.execPath, [WRANGLER, 'deploy', '--dry-run', '--outdir', folder], {
    cwd: SERVER,
    env: { ...process.env, HOME: folder, WRANGLER_SEND_METRICS: 'false', CI: '1', WRANGLER_LOG_PATH: folder },
  })
  let said = ''
  wrangler.stdout.on('data', (chunk) => {
    said += chunk
  })
  wrangler.stderr.on('data', (chunk) => {
    said += chunk
  })
  const [status] = await once(wrangler, 'exit')
  if (status !== 0) throw new Error(`wrangler failed: ${said}`)
  return {
    worker: join(folder, 'worker.js'),
    said,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The bundle in miniflare, with the bindings that workerd alone does not have. */
export async function startMiniflare(worker: string, variables: { readonly [name: string]: string } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-miniflare-'))
  const options = convertV4MiniflareOptions({
    name: 'tildebase',
    modules: true,
    script: readFileSync(worker, 'utf8'),
    compatibilityDate: '2026-10-01',
    host: '127.0.0.1',
    port: 0,
    durableObjects: {
      TENANTS: { className: 'TenantObject', useSQLite: true },
      DIRECTORY: { className: 'TenantDirectory', useSQLite: true },
    },
    workerLoaders: { LOADER: {} },
    r2Buckets: { BACKUPS: 'backups', FILES: 'files' },
    ratelimits: { RATE: { namespace_id: '1', simple: { limit: 500, period: 60 } } },
    assets: {
      directory: join(SERVER, 'dist', 'assets'),
      binding: 'ASSETS',
      routerConfig: { has_user_worker: true, invoke_user_worker_ahead_of_assets: true },
      assetConfig: { html_handling: 'none' },
    },
    bindings: { TILDE_ROOT_KEY: ROOT, ...variables },
  } as never)
  const miniflare = new Miniflare({ ...options, resourcePersistencePath: folder })
  const url = String(await miniflare.ready).replace(/\/$/, '')
  return {
    url,
    miniflare,
    async stop() {
      await miniflare.dispose()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
