import { spawn } from 'node:child_process'
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBlocks } from '../docs.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { type BuiltClient, buildClient, findPython, ROOT_FOLDER, runPython } from './python.ts'

const SOURCE = join(ROOT_FOLDER, 'python')
const python = findPython()
const reason = 'missing' in python ? `: without ${python.missing}` : ''
let built: BuiltClient
let host: TestHost
beforeAll(async () => {
  if (reason !== '') return
  host = await testHost()
  built = buildClient(python)
})
afterAll(async () => {
  await host?.stop()
  if (built) rmSync(built.folder, { recursive: true })
})

/** Runs a program of python/tests against the host, which lives in this process. */
async function runTests(file: string, ...args: string[]): Promise<string> {
  if ('missing' in python) throw new Error(`Missing: ${python.missing}.`)
  const env = { ...process.env, PYTHONPATH: `${built.installed}:${python.path}`, PYTHONDONTWRITEBYTECODE: '1' }
  const program = spawn(python.command, ['-W', 'ignore', join(SOURCE, 'tests', file), ...args], {
    env,
    cwd: built.folder,
  })
  let said = ''
  for (const stream of [program.stdout, program.stderr]) stream.on('data', (chunk) => (said += chunk))
  const status = await new Promise((done) => program.on('exit', done))
  return status === 0 ? '' : said
}

describe.skipIf(reason)(`the client for Python${reason}`, () => {
  test('passes the scenarios of the TypeScript client, sync and async', { timeout: 240_000 }, async () => {
    const scenarios = join(import.meta.dirname, 'scenarios.json')
    expect(await runTests('scenarios.py', host.url, ROOT, scenarios)).toBe('')
  })

  test('repeats, continues, warns and verifies', { timeout: 120_000 }, async () => {
    expect(await runTests('test_client.py')).toBe('')
  })

  test('imports, exports and makes models', { timeout: 120_000 }, async () => {
    expect(await runTests('test_service.py', host.url, ROOT)).toBe('')
  })

  test.each([
    ['sends files at once, in pieces and after a cut connection', 'test_files.py'],
    ['signs people in by password and by OAuth, and renews tokens', 'test_sign_in.py'],
    ['creates, copies, saves, verifies and deletes tenants', 'test_operator.py'],
  ])('%s', { timeout: 240_000 }, async (_, file) => {
    expect(await runTests(file, host.url, ROOT)).toBe('')
  })

  test('is a typed wheel with one dependency', () => {
    const { wheels, installed } = built
    const [wheel] = globSync('*.whl', { cwd: wheels })
    const metadata = readFileSync(join(installed, 'tildebase-0.1.0.dist-info', 'METADATA'), 'utf8')

    expect(wheel).toBe('tildebase-0.1.0-py3-none-any.whl')
    expect(metadata.match(/^Requires-Dist: .*/gm)).toEqual([expect.stringMatching(/httpx/)])
    expect(globSync('tildebase/py.typed', { cwd: installed })).toEqual([join('tildebase', 'py.typed')])
  })

  test('passes the strict type checker, and so does a typed program', { timeout: 240_000 }, () => {
    const { folder, installed } = built
    const program = join(folder, 'program.py')
    writeFileSync(program, PROGRAM)

    expect(runPython(python, [], ['-m', 'mypy', '--strict', join(SOURCE, 'src')])).toContain('Success')
    expect(runPython(python, [installed], ['-m', 'mypy', '--strict', program], { cwd: folder })).toContain('Success')
    writeFileSync(program, PROGRAM.replace('"stage"', '"stge"'))
    expect(() => runPython(python, [installed], ['-m', 'mypy', '--strict', program], { cwd: folder })).toThrow('stge')
  })

  test.each(['docs/guides/python.md', 'python/README.md'])(
    'passes the strict type checker in the program of %s',
    { timeout: 240_000 },
    (page) => {
      const { folder, installed } = built
      const blocks = readBlocks(page, readFileSync(join(ROOT_FOLDER, page), 'utf8'))
      const program = join(folder, 'page.py')
      writeFileSync(program, blocks.flatMap(({ language, code }) => (language === 'python' ? [code] : [])).join('\n'))

      expect(runPython(python, [installed], ['-m', 'mypy', '--strict', program], { cwd: folder })).toContain('Success')
    },
  )

  test('has a sync client and models that are generated; npm run python:generate writes them', async () => {
    await host.request('POST', '/~generate/Contact', { name: 'Ada' })
    const { text } = await host.request('GET', '/~generate/openapi.json')
    const document = join(built.folder, 'openapi.json')
    writeFileSync(document, text)
    runPython(python, [], [join(built.source, 'generate.py'), document])

    const files = globSync(['src/tildebase/models.py', 'src/tildebase/_{sync,async}/*.py'], { cwd: built.source })
    expect(files.length).toBeGreaterThan(15)
    for (const file of files) {
      expect(readFileSync(join(built.source, file), 'utf8'), file).toBe(readFileSync(join(SOURCE, file), 'utf8'))
    }
  })
})

const PROGRAM = `
from tildebase import AsyncOAuth, AsyncTildebase, OAuth, Operator, Session, Tildebase, Tokens, models

client = Tildebase("acme", "tb_x")
contacts = client.of(models.Contact)
ada = contacts.find_one({"name": "Ada"})
reveal: str = ada["stage"] if ada else ""
names: list[str] = [one["name"] for one in contacts.find()]

def people(tokens: Tokens) -> list[Tildebase]:
    session = Session.sign_in("acme", "ada@example.com", "password")
    return [Tildebase("acme", auth=session), Tildebase("acme", auth=OAuth(tokens))]

def save(path: str) -> None:
    with Operator("tb_x") as operator, open(path, "rb") as file:
        operator.tenants.restore("acme", file)
        client.Asset.upload("asset_1", "file", file, on_progress=lambda progress: print(progress.sent))

async def main(tokens: Tokens) -> int:
    async with AsyncTildebase("acme", auth=AsyncOAuth(tokens)) as client:
        return await client.Contact.count()
`
