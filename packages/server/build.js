// Runs after every install. Makes dist/viewer, the files of the API viewer that the Node host sends compressed, and what the
// Worker is deployed with: dist/isolates.js, the modules that it loads into isolates of their own as texts, and dist/assets,
// the files of the console and of /docs.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, URL } from 'node:url'
import { gzipSync } from 'node:zlib'

const require = createRequire(import.meta.url)
const VIEWER = { 'swagger-ui.js': 'swagger-ui-bundle.js', 'swagger-ui.css': 'swagger-ui.css' }

stageViewer()
const vite = await import('vite').catch(() => null)
if (vite === null) console.log('The isolates of the Worker are not built: vite is not installed.')
else await build(vite)

/** @param {typeof import('vite')} vite */
async function build({ build }) {
  const here = (path) => fileURLToPath(new URL(path, import.meta.url))
  const bundle = async (name, define = {}) => {
    const [{ output }] = await build({
      root: here('.'),
      configFile: false,
      logLevel: 'warn',
      define,
      resolve: { conditions: ['workerd', 'worker', 'browser', 'module'] },
      build: {
        write: false,
        target: 'es2024',
        minify: true,
        lib: { entry: here(`src/workerd/isolates/${name}.ts`), formats: ['es'] },
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
    sandbox: { main: await bundle('sandbox'), wasm: { 'quickjs.wasm': base64(readFileSync(quickjs)) } },
    passwords: {
      main: await bundle('passwords', { BLAKE2B_LENGTH: String(argon2[0].length) }),
      wasm: Object.fromEntries(['blake2b.wasm', 'argon2.wasm'].map((name, at) => [name, base64(argon2[at])])),
    },
  }
  mkdirSync(here('dist'), { recursive: true })
  stageAssets(here)
  writeFileSync(here('dist/isolates.js'), `export const ISOLATES = ${JSON.stringify(isolates)}\n`)
}

/** The files of Swagger UI, compressed and with their licence. */
function stageViewer() {
  const to = fileURLToPath(new URL('dist/viewer', import.meta.url))
  rmSync(to, { recursive: true, force: true })
  mkdirSync(to, { recursive: true })
  const from = dirname(require.resolve('swagger-ui-dist/package.json'))
  for (const [name, text] of viewerFiles()) writeFileSync(join(to, `${name}.gz`), gzipSync(text, { level: 9 }))
  for (const name of ['LICENSE', 'NOTICE']) cpSync(join(from, name), join(to, name))
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
  const to = here('dist/assets')
  rmSync(to, { recursive: true, force: true })
  cpSync(here('src/docs'), join(to, 'docs'), { recursive: true })
  for (const [name, text] of viewerFiles()) writeFileSync(join(to, 'docs', name), text)
  const built = here('../console/dist')
  if (existsSync(built)) cpSync(built, join(to, 'console'), { recursive: true })
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
