import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type BuiltClient, buildClient, findPython } from './client/python.ts'
import { SHARED, startNode } from './cluster/short/nodes.ts'
import { startPostgres, type TestPostgres } from './cluster/short/postgres.ts'
import { TestBucket } from './content/bucket.ts'
import { type Block, readBlocks, type Served, serve } from './docs.ts'
import { dryRun, startMiniflare } from './hosts/miniflare.ts'
import { openSmtp, type TestSmtp } from './mail/smtp.ts'
import { startRegistry } from './packages/registry.ts'
import { type Fake, hubspotFake, startFake } from './past/fakes.ts'
import { ROOT as ROOT_KEY } from './root-key.ts'

const ROOT = join(import.meta.dirname, '..')
const BLOCKS = globSync(
  ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'python/*.md', 'deploy/**/*.md', 'skills/**/*.md'],
  { cwd: ROOT },
)
  .flatMap((page) => readBlocks(page, readFileSync(join(ROOT, page), 'utf8')))
  .filter(({ language, marks }) => language === 'sh' && !marks.includes('test'))

/** A block that needs more than a server of its own. */
interface Prepared {
  /** What is done before, which the page does not show. */
  readonly before?: string
  /** Whether it installs the packages of this repository, in an empty folder. What is endless then comes last. */
  readonly published?: boolean
  /** Whether pip installs the client of this repository. */
  readonly python?: boolean
  /** A command without which it is skipped: a program that few machines have. */
  readonly needs?: readonly string[]
  /** Whether it needs another server. */
  readonly second?: boolean
  /** Whether its server is a Worker. */
  readonly worker?: boolean
  /** The nodes of a cluster that are its server. */
  readonly nodes?: readonly string[]
  /** What replaces places that only the reader has. */
  readonly places?: () => { readonly [text: string]: string }
  /** Commands that run until they are stopped: what they print by then, and what is done meanwhile to cause it. */
  readonly endless?: readonly { readonly has: string; readonly prints: RegExp; readonly meanwhile?: string }[]
}

const ADA = 'tilde Contact.create --tenant acme --name Ada'
const DEAL = 'tilde Deal.create --tenant acme --name Engine --stage Negotiation'

/** Blocks by their page and their first words. */
const PREPARED: { readonly [block: string]: Prepared } = {
  'docs/cloudflare.md: auth=… restore?from=acme': {
    worker: true,
    // There is a backup as soon as one can be restored.
    before: `${ADA}\nuntil curl -s -X PUT "$TILDE_URL/operator/tenants/acme-1/restore?from=acme" -H "$AUTH"; do sleep 1; done`,
  },
  'docs/cloudflare.md: auth=… "$FROM/': { before: ADA, second: true },
  // Without an account: test/hosts/miniflare.test.ts checks and bundles as `deploy --dry-run` does, and so does this server.
  'docs/cloudflare.md: openssl': {
    worker: true,
    places: () => ({
      'npx wrangler@': ': wrangler@',
      'https://tildebase.example.com': first.url,
      '$(cat root.key)': first.rootKey,
    }),
  },
  'docs/cluster.md: tilde serve': {
    nodes: ['node-2'],
    places: () => ({
      'postgres://tilde:secret@pg1,pg2,pg3/tilde': `'${postgres!.url}'`,
      'http://10.0.0.1:8787': 'http://127.0.0.1:1 --data node-1',
    }),
    endless: [{ has: 'tilde serve', prints: /listens on http/ }],
  },
  'docs/cluster.md: tilde cluster': {
    nodes: ['node-1', 'node-2', 'node-3'],
    before: 'tilde tenants create acme',
  },
  'docs/connect/README.md: tilde import hubspot': {
    before: 'tilde tenants create acme',
    places: () => ({ 'import hubspot': `import hubspot --api-url ${hubspot.url}` }),
  },
  'docs/connect/README.md: ID=': {
    places: () => ({
      '--provider hubspot': `--provider hubspot --apiBaseUrl ${hubspot.url}`,
      'pat-eu1-…': 'hub-token',
    }),
  },
  'docs/email.md: integration=': { places: () => ({ 'smtps://mail.acme.example': smtp.url }) },
  'docs/events.md: curl -N "$TILDE_URL/~acme/events': {
    before: DEAL,
    endless: [{ has: 'curl', prints: /event: Deal\.created/, meanwhile: DEAL }],
  },
  'docs/events.md: curl -N "$TILDE_URL/~acme/Deal': {
    before: DEAL,
    endless: [{ has: 'curl', prints: /event: page\ndata: .*Engine/ }],
  },
  'docs/guides/beyond-one-machine.md: tilde backup': {
    before: ADA,
    second: true,
    places: () => ({ 'http://10.0.0.11:8787': first.url, 'http://10.0.0.12:8787': second!.url }),
  },
  'docs/guides/python.md: python3 -m venv': {
    published: true,
    before: 'mkdir data && echo key > data/root.key',
    python: true,
  },
  'docs/guides/receive-webhooks.md: tilde webhooks listen': {
    before: ADA,
    endless: [{ has: 'listen', prints: /Signing with whsec_/ }],
  },
  'docs/history.md: tilde history merge': { before: `${ADA}\ntilde Contact.create --tenant acme-past --name Bob` },
  // Compose reads its file and the variables of the page without an engine; test/packages/image.test.ts runs what the image contains.
  'docs/operations.md: export TILDE_DOMAIN': {
    needs: ['docker', 'compose', 'version'],
    places: () => ({ 'deploy/compose.yaml': join(ROOT, 'deploy/compose.yaml'), 'up -d': 'config' }),
  },
  'docs/operations.md: tilde backup acme --to': {
    before: ADA,
    endless: [
      { has: 'acme --to backups/acme --follow', prints: /^acme\t/m },
      { has: '--all --to backups --follow', prints: /^acme\t/m, meanwhile: ADA },
    ],
  },
  'docs/operations.md: tilde backup --all --to s3://': {
    before: ADA,
    places: () => ({ 's3://backups/tilde': 's3://tilde/backups', '--as acme': '--as acme-2' }),
    endless: [{ has: '--follow', prints: /^acme\t/m }],
  },
  'docs/operations.md: tilde backup acme -o': { before: ADA },
  'docs/operations.md: tilde tenants list': { before: ADA },
  'docs/start.md: npm init': { published: true, endless: [{ has: 'npx tildebase', prints: /listens on http/ }] },
  'docs/project.md: npm create': { published: true, endless: [{ has: 'npm run dev', prints: /Watching/ }] },
  'packages/create-tildebase/README.md: npm create': {
    published: true,
    endless: [{ has: 'npm run dev', prints: /Watching/ }],
  },
  'packages/tildebase/README.md: npx tildebase\n': {
    published: true,
    endless: [{ has: 'npx tildebase', prints: /listens on http/ }],
  },
  'packages/tildebase/README.md: npx tildebase --port': {
    published: true,
    places: () => ({ '--port 9000 --data /var/lib/tildebase': '--port 0 --data data' }),
    endless: [{ has: '--data', prints: /listens on http/ }],
  },
  'docs/project.md: tilde schema rename': {
    before: `curl -s -X PUT "$TILDE_URL/~acme/schema/Refund" -H "$AUTH" --json '{"amount": "number", "status": "Requested | Paid"}'`,
  },
  'packages/cli/README.md: tilde serve': {
    endless: [
      { has: 'tilde serve', prints: /listens on http/ },
      { has: '--follow', prints: /Contact\.created/, meanwhile: ADA },
    ],
  },
}

/** Why a block runs nowhere, or where else it does. */
const NOT_HERE: { readonly [block: string]: string } = {
  'README.md: npm ci && npm start': 'test/bare runs it in an empty Debian, as root',
  'README.md: npm ci && npm test': 'test/bare runs it in an empty Debian, as root',
  'docs/start.md: npm ci && npm start': 'test/bare runs it in an empty Debian, as root',
  'docs/guides/nextjs.md: export': 'test/tutorials follows the whole page',
  'docs/guides/nextjs.md: npx next dev': 'test/tutorials follows the whole page',
  'docs/guides/vite.md: export': 'test/tutorials follows the whole page',
  'docs/guides/vite.md: node seed.ts': 'test/tutorials follows the whole page',
  'docs/guides/vite.md: npx vite': 'test/tutorials follows the whole page',
  'docs/cloudflare.md: npm ci':
    'signs in to an account of Cloudflare, and creates buckets there; a test below compares their names and the version of wrangler',
  'docs/operations.md: npm install --global': 'test/bare boots an empty Debian and runs it there, as root',
  'docs/guides/connect-an-agent.md: claude':
    'needs a program of another company; a test below reads the address, and test/agents connects to it with other clients',
  'docs/guides/connect-an-agent.md: code':
    'needs a program of another company; a test below reads its JSON, and test/agents connects to the address with other clients',
}

let first: Served
let second: Served | undefined
let postgres: TestPostgres | undefined
let hubspot: Fake
let smtp: TestSmtp
let bucket: TestBucket
let client: BuiltClient | undefined
let registry: Awaited<ReturnType<typeof startRegistry>> | undefined
beforeAll(async () => {
  bucket = await new TestBucket().start()
  hubspot = await startFake(hubspotFake({ companies: [], contacts: [], deals: [], tickets: [] }), () => null)
  const onAuth = (_: unknown, _session: unknown, done: (reason: null, answer: object) => void) =>
    done(null, { user: 1 })
  smtp = await openSmtp({ disabledCommands: ['STARTTLS'], authOptional: true, allowInsecureAuth: true, onAuth })
})
afterAll(async () => {
  await Promise.all([hubspot?.stop(), smtp?.close(), bucket?.stop()])
  registry?.stop()
  if (client) rmSync(client.folder, { recursive: true })
})

test('every shell block is a test, or is listed with the reason', () => {
  const known = [...Object.keys(PREPARED), ...Object.keys(NOT_HERE)]

  const unknown = BLOCKS.filter((block) => known.filter((name) => isNamed(block, name)).length !== 1)
  expect(unknown.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  expect(known.filter((name) => !BLOCKS.some((block) => isNamed(block, name)))).toEqual([])
})

test('the page for Cloudflare creates the buckets of the configuration, with the wrangler that bundles it in tests', () => {
  const code = codeOf('docs/cloudflare.md')
  const configuration = readFileSync(join(ROOT, 'packages/server/wrangler.jsonc'), 'utf8')
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, 'test/package.json'), 'utf8'))

  expect(all(code, /r2 bucket create (\S+)/g)).toEqual(all(configuration, /"bucket_name": "(.+?)"/g))
  expect(new Set(all(code, /wrangler@(\S+)/g))).toEqual(new Set([dependencies.wrangler]))
})

test('programs of other companies get the address of MCP', () => {
  const code = codeOf('docs/guides/connect-an-agent.md')
  const [json] = all(code, /--add-mcp '(.+)'/g)

  expect(new Set(all(code, /(https:\S+?)["\s]/g))).toEqual(new Set(['https://tilde.example/~acme/mcp']))
  expect(JSON.parse(json!)).toEqual({ name: 'acme', type: 'http', url: 'https://tilde.example/~acme/mcp' })
})

test.for(Object.entries(PREPARED))('%s', { timeout: 600_000 }, async ([name, prepared], { signal, skip }) => {
  const [program, ...words] = prepared.needs ?? []
  if (program) skip(spawnSync(program, words).status !== 0, `${[program, ...words].join(' ')} fails on this machine`)
  if (prepared.python) {
    skip(spawnSync('python3', ['-c', 'import ensurepip']).status !== 0, 'python3-venv is not installed')
    client ??= buildClient(findPython())
  }
  if (prepared.published) registry ??= await startRegistry()
  const block = BLOCKS.find((block) => isNamed(block, name))!
  if (prepared.worker) first = await serveWorker()
  else first = prepared.nodes ? await serveNodes(prepared.nodes) : await serve({ TILDE_WEBHOOKS_INSECURE: '1' })
  second = prepared.second ? await serve() : undefined
  const home = mkdtempSync(join(tmpdir(), 'tildebase-commands-'))
  try {
    expect(await errorsOf(block, prepared, home, signal)).toBe('')
  } finally {
    await first.stop()
    await second?.stop()
    rmSync(home, { recursive: true })
  }
})

/** The Worker as it is deployed, with buckets. */
async function serveWorker(): Promise<Served> {
  const bundle = await dryRun()
  const { url, stop } = await startMiniflare(bundle.worker, { TILDE_BACKUP_SECONDS: '1' })
  const stopAll = async () => {
    await stop()
    bundle.remove()
  }
  return { url, rootKey: ROOT_KEY, stop: stopAll }
}

/** A cluster of nodes in this process; the first one is its address. */
async function serveNodes(names: readonly string[]): Promise<Served> {
  const database = await startPostgres()
  postgres = database
  const nodes = await Promise.all(names.map((name) => startNode(database.url, name)))
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await database.stop()
    postgres = undefined
  }
  return { url: nodes[0]!.url, rootKey: SHARED.TILDE_ROOT_KEY, stop }
}

/** `page: first words`; `…` is any text. */
function isNamed({ page, code }: Block, name: string): boolean {
  const [start, ...rest] = name.slice(name.indexOf(': ') + 2).split('…')
  return name.startsWith(`${page}: `) && code.startsWith(start!) && rest.every((part) => code.includes(part.trim()))
}

/** The commands of a page that no other test runs. */
function codeOf(page: string): string {
  return BLOCKS.filter((block) => block.page === page)
    .map(({ code }) => code)
    .join('')
}

function all(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, found]) => found!)
}

/** Runs a block: endless commands until they print what they should, the others in one shell. */
async function errorsOf(
  { code }: Block,
  { before = '', places, endless = [], published = false }: Prepared,
  home: string,
  signal: AbortSignal,
): Promise<string> {
  // npm installs into an empty folder. Other blocks have the packages of the clone.
  if (!published) symlinkSync(join(ROOT, 'node_modules'), join(home, 'node_modules'))
  writeFileSync(join(home, '.curlrc'), 'fail-with-body\n')
  const text = Object.entries(places?.() ?? {}).reduce((text, [from, to]) => text.replaceAll(from, to), code)
  const lines = text.split('\n')
  const isEndless = (line: string) => endless.some(({ has }) => line.includes(has))
  const rest = lines.filter((line) => !isEndless(line)).join('\n')
  let errors = await run(before, home)
  if (published) errors += await run(rest, home)
  for (const line of lines.filter(isEndless)) {
    const { prints, meanwhile } = endless.find(({ has }) => line.includes(has))!
    errors += await runUntil(line, prints, meanwhile, home, signal)
  }
  return published ? errors : errors + (await run(rest, home))
}

async function run(script: string, home: string): Promise<string> {
  const { child, said } = start(script, home)
  const [code] = await once(child, 'close')
  return code === 0 ? '' : `exit ${code}\n${said()}`
}

/** Stops a command as soon as it has printed something. */
async function runUntil(
  line: string,
  prints: RegExp,
  meanwhile: string | undefined,
  home: string,
  signal: AbortSignal,
): Promise<string> {
  const { child, said } = start(line, home)
  const closed = once(child, 'close')
  while (child.exitCode === null && !prints.test(said()) && !signal.aborted) {
    const news = new Promise((done) => setTimeout(done, 100))
    await (meanwhile === undefined ? news : run(meanwhile, home))
  }
  const errors = child.exitCode === null ? '' : `exit ${child.exitCode}\n${said()}`
  if (child.exitCode === null) process.kill(-child.pid!, 'SIGTERM')
  await closed
  return errors
}

function start(script: string, home: string): { child: ChildProcess; said: () => string } {
  const env = {
    ...process.env,
    ...bucket.settings,
    ...(postgres && { ...SHARED, TILDE_FILES: undefined }),
    ...registry?.env,
    // Without a network, and so without httpx: the programs of the page have the one of the system.
    ...(client && { PIP_FIND_LINKS: client.wheels, PIP_NO_INDEX: '1', PIP_NO_DEPS: '1' }),
    // Only a link has the commands of the clone.
    PATH: `${join(home, 'node_modules', '.bin')}:${process.env.PATH}`,
    HOME: home,
    CURL_HOME: home,
    TILDE_URL: first.url,
    TILDE_ROOT_KEY: first.rootKey,
    TILDE_KEY: first.rootKey,
    TILDE_TENANT: 'acme',
    TILDE_PORT: '0',
    FROM: first.url,
    ...(second && { TO: second.url }),
    HUBSPOT_TOKEN: 'hub-token',
    AUTH: `Authorization: Bearer ${first.rootKey}`,
    auth: `Authorization: Bearer ${first.rootKey}`,
  }
  // A group of its own, so that the programs below the shell end with it.
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], { cwd: home, env, detached: true })
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (chunk) => (text += chunk))
  return { child, said: () => text }
}
