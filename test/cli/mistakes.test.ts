import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { COMMAND } from '../prepare/command.ts'
import { COMPILED, type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  await host.request('POST', '/~mistakes/Contact', { name: 'Ada' })
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'mistakes' })
  mkdirSync(join(tilde.folder, 'folder'))
  writeFileSync(join(tilde.folder, 'file'), 'not JSON\n')
  writeFileSync(join(tilde.folder, 'types.json'), '{}')
})
afterAll(() => host.stop())

describe('a mistake in a command is answered by a sentence, and the exit code is 2', () => {
  test.each([
    // The words in another order, or those of another tool.
    ['find Contact', 'There is no command find. Did you mean Contact.find?'],
    ['create Contact --name Bob', 'There is no command create. Did you mean Contact.create?'],
    ['Contact create --name Bob', 'There is no command Contact. Did you mean Contact.create?'],
    ['Contact.', 'There is no command Contact.. Did you mean Contact.find?'],
    ['--port 1 serve', 'There is no command 1. Write flags after the command: tilde serve --port 1'],
    [
      '--stage Lead Contact.find',
      'There is no command Lead. Write flags after the command: tilde Contact.find --stage Lead',
    ],
    ['Contact.list', 'Contact has no verb list; did you mean find?'],
    ['Contact.remove x', 'Contact has no verb remove; did you mean delete?'],
    ['Contact.paint x', 'It has find, findOne, count,'],
    ['schema get Contact', 'schema has list, pull, diff, push, put, rename, retype, delete, not get.'],
    ['do clean.ts', 'Name the file with its flag: tilde do --file clean.ts'],
    ['do folder', 'Give a verb, as in tilde do Contact.qualify ID, or either --code CODE or --file FILE.'],
    ['do --code 1 --file file', 'or either --code CODE or --file FILE.'],
    ['backup mistakes -o x.db --to y', 'Give either --output FILE or --to FOLDER, not both.'],
    // A folder in the place of a file, or a file in that of a folder.
    ['schema put Ship folder', 'folder is a folder. Name a file.'],
    ['do --file folder', 'folder is a folder. Name a file.'],
    ['sync folder', 'folder is a folder. Name a file.'],
    ['export Contact -o folder', 'folder is a folder. Name a file.'],
    ['backup mistakes -o folder', 'folder is a folder. Name a file.'],
    ['prove 1 -o folder', 'folder is a folder, not a file.'],
    ['types -o folder', 'folder is a folder, not a file.'],
    ['Asset.create --name A --file @folder', 'folder is a folder. Name a file.'],
    ['import ./folder --history --format ndjson', './folder is a folder. Name a file.'],
    ['verify --from file', 'A part of the path file is a file, not a folder.'],
    ['repair mistakes --from file', 'file is not a backup. Name its folder, or the file of a tenant.'],
    ['serve --port 0 --data file', 'file is a file, or is below one. Choose a folder for the data with --data.'],
    ['serve --port 0 --config folder', '--config folder is not a module.'],
    ['serve --port 0 --config types.json', '--config types.json is not a module.'],
    ['serve --port 0 --host nohost.invalid', 'nohost.invalid is not an address of this machine.'],
    ['dev --folder folder --port PORT', 'is in use. Choose another with --port'],
  ])('tilde %s', async (line, sentence) => {
    const { code, out, err } = await tilde(...line.replace('PORT', new URL(host.url).port).split(' '))

    expect([code, out, err]).toEqual([2, '', expect.stringContaining(sentence)])
    expect(err.split('\n')).toHaveLength(2)
  })
})

describe('a file to write', () => {
  // Links and pipes of the test's own: as root, a fault would replace those of the machine.
  test.each([
    ['standard output as a pipe', 'ln -s /dev/stdout out1; $TILDE -o out1 | cat; test -L out1'],
    ['standard output as a file', 'ln -s /dev/stdout out2; $TILDE -o out2 >> rows.csv; test -L out2; cat rows.csv'],
    ['another process', '$TILDE -o >(cat > rows2.csv); while [ ! -s rows2.csv ]; do sleep 0.1; done; cat rows2.csv'],
    ['a named pipe', 'mkfifo pipe; cat pipe > rows3.csv & $TILDE -o pipe; wait; test -p pipe; cat rows3.csv'],
    ['a link to a file', 'echo old > rows4.csv; ln -s rows4.csv out4; $TILDE -o out4; test -L out4; cat rows4.csv'],
  ])('may be %s', async (_, script) => {
    expect(await inShell(script.replace('$TILDE', '"$0" "$1" export Contact --format csv'))).toMatch(
      /^\$id,.*\r\n.*,Ada,/,
    )
  })

  test('is not touched when the export fails', async () => {
    writeFileSync(join(tilde.folder, 'old.csv'), 'old')

    expect((await tilde('export', 'Contact', '-o', 'old.csv', '--as-of', 'never')).code).toBe(1)
    expect(readFileSync(join(tilde.folder, 'old.csv'), 'utf8')).toBe('old')
  })
})

test('a file to send may come from a process', async () => {
  const asset = JSON.parse(await inShell(`"$0" "$1" Asset.create --name A --file @<(printf 'Hello') --json`))
  const rows = await inShell(`"$0" "$1" import <(printf 'name\\nBob\\n') --type Contact --format csv --json`)

  expect(asset.file.size).toBe(5)
  expect(JSON.parse(rows)).toMatchObject({ imported: 1 })
})

/** What a shell script prints, in which `"$0" "$1"` is the command. The service is in this process, so it must not wait. */
async function inShell(script: string): Promise<string> {
  const env = { TILDE_URL: host.url, TILDE_KEY: ROOT, TILDE_TENANT: 'mistakes', HOME: tilde.folder }
  const args = ['-euo', 'pipefail', '-c', script, process.execPath, COMMAND]
  const { stdout } = await promisify(execFile)('bash', args, {
    cwd: tilde.folder,
    env: { PATH: process.env.PATH, ...COMPILED, ...env },
  })
  return stdout
}
