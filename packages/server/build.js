// Runs after every install. Makes dist/viewer, the files of the API viewer that the Node host sends compressed; dist/scripts.js,
// the scripts of pages as texts; dist/apps.js, the pages that agents show, as texts; and what the Worker is deployed with: dist/isolates.js, the modules that it loads into isolates of their own as texts, and dist/assets,
// the files of the console and of /docs. Tests build it side by side: each file is replaced as a whole, and only if it changes.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { gzipSync } from 'node:zlib'

const require = createRequire(import.meta.url)
const VIEWER = { 'swagger-ui.js': 'swagger-ui-bundle.js', 'swagger-ui.css': 'swagger-ui.css' }

const vite = await import('vite').catch(() => null)
if (vite === null)
  console.log(
    'The viewer of /docs, the scripts of pages and the isolates of the Worker are not built: vite is not installed.',
  )
else {
  stageViewer()
  await build(vite)
}

/** @param {typeof import('vite')} vite */
async function build({ build }) {
  const here = (path) => fileURLToPath(new URL(path, import.meta.url))
  const bundle = async (path, { define = {}, minify = true } = {}) => {
    const [{ output }] = await build({
      root: here('.'),
      configFile: false,
      logLevel: 'warn',
      define,
      resolve: { conditions: ['workerd', 'worker', 'browser', 'module'] },
      build: {
        write: false,
        target: 'es2024',
        minify,
        lib: { entry: here(`src/${path}.ts`), formats: ['es'] },
        rolldownOptions: { external: [/^cloudflare:/, /\.wasm$/], output: { codeSplitting: false } },
      },
    })
    return output[0].code
  }
  const quickjs = require.resolve('@jitl/quickjs-wasmfile-release-sync/wasm')
  const argon2 = await compiledBy(async () => {
    const { argon2id } = await import('hash-wasm')
    const least = {
      password: 'p',
      salt: 'a salt of 16 b..',
      iterations: 1,
      memorySize: 8,
      parallelism: 1,
      hashLength: 16,
    }
    await argon2id(least)
  })
  const isolates = {
    sandbox: {
      main: await bundle('workerd/isolates/sandbox'),
      wasm: { 'quickjs.wasm': base64(readFileSync(quickjs)) },
    },
    passwords: {
      main: await bundle('workerd/isolates/passwords', { define: { BLAKE2B_LENGTH: String(argon2[0].length) } }),
      wasm: Object.fromEntries(['blake2b.wasm', 'argon2.wasm'].map((name, at) => [name, base64(argon2[at])])),
    },
  }
  // As they were written: readers of a saved proof can read how it is checked.
  const scripts = {
    'sign-in': await bundle('doors/browser/sign-in', { minify: false }),
    proof: await bundle('doors/browser/proof', { minify: false }),
  }
  const style = readFileSync(here('src/doors/apps/app.css'), 'utf8')
  const template = readFileSync(here('src/doors/apps/app.html'), 'utf8')
  const apps = {}
  for (const name of ['changeset', 'list', 'entity'])
    apps[name] = pageOf(template, style, await bundle(`doors/apps/${name}`))
  stageAssets(here)
  stage(here('dist/apps.js'), Buffer.from(`export const APPS = ${JSON.stringify(apps)}\n`))
  stage(here('dist/scripts.js'), Buffer.from(`export const SCRIPTS = ${JSON.stringify(scripts)}\n`))
  stage(here('dist/isolates.js'), Buffer.from(`export const ISOLATES = ${JSON.stringify(isolates)}\n`))
}

/** A page that is one text, so that it needs nothing from anywhere. */
function pageOf(template, style, script) {
  const safe = script.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--')
  return template.replace('/* style */', () => style.trim()).replace('/* script */', () => safe.trim())
}

/** The files of Swagger UI, compressed and with their licence. */
function stageViewer() {
  const from = dirname(require.resolve('swagger-ui-dist/package.json'))
  stageFolder(fileURLToPath(new URL('dist/viewer', import.meta.url)), [
    ...viewerFiles().map(([name, text]) => [`${name}.gz`, gzipSync(text, { level: 9 })]),
    ...['LICENSE', 'NOTICE'].map((name) => [name, readFileSync(join(from, name))]),
  ])
}

/** Without the comments that name source maps, which are not served. */
function viewerFiles() {
  return Object.entries(VIEWER).map(([name, file]) => {
    const text = readFileSync(require.resolve(`swagger-ui-dist/${file}`), 'utf8')
    return [name, text.replace(/\n?\/[/*]# sourceMappingURL=.*$/m, '')]
  })
}

/** The files of the console, where it is built, and of the page of the API. */
function stageAssets(here) {
  const built = here('../console/dist')
  stageFolder(here('dist/assets'), [
    ...filesOf(here('src/doors/docs')).map(([name, bytes]) => [join('docs', name), bytes]),
    ...viewerFiles().map(([name, text]) => [join('docs', name), Buffer.from(text)]),
    ...(existsSync(built) ? filesOf(built).map(([name, bytes]) => [join('console', name), bytes]) : []),
  ])
}

/** The files in a folder, by their path in it. */
function filesOf(folder) {
  return namesIn(folder).map((name) => [name, readFileSync(join(folder, name))])
}

function namesIn(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { recursive: true, withFileTypes: true }) : []
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
}

/** Makes a folder contain these files, and no others. */
function stageFolder(folder, files) {
  for (const [name, bytes] of files) stage(join(folder, name), bytes)
  const names = new Set(files.map(([name]) => name))
  for (const name of namesIn(folder)) if (!names.has(name)) rmSync(join(folder, name), { force: true })
}

/** Replaces a file at once, so that no reader sees half of it. */
function stage(path, bytes) {
  if (existsSync(path) && readFileSync(path).equals(bytes)) return
  mkdirSync(dirname(path), { recursive: true })
  const part = fileURLToPath(new URL(`dist/.${process.pid}`, import.meta.url))
  writeFileSync(part, bytes)
  renameSync(part, path)
}

/** The programs of WebAssembly that are compiled during some work, the shortest first: a Worker cannot compile any. */
async function compiledBy(work) {
  const { compile } = WebAssembly
  const programs = []
  WebAssembly.compile = (bytes) => {
    programs.push(Buffer.from(bytes))
    return compile(bytes)
  }
  await work()
  WebAssembly.compile = compile
  return programs.toSorted((a, b) => a.length - b.length)
}

function base64(bytes) {
  return bytes.toString('base64')
}
