import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { whyNot } from '../needs.ts'
import { COMMAND } from '../prepare/command.ts'
import { COMPILED, type Tilde, tildeWith } from './tilde.ts'

let host: TestHost
let tilde: Tilde
beforeAll(async () => {
  host = await testHost()
  tilde = tildeWith({ TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'acme' })
})
afterAll(() => host.stop())

const noTerminal = whyNot('script')

test.skipIf(noTerminal)(`a key that is typed at a terminal is taken, and never shown${noTerminal ?? ''}`, async () => {
  const secret = await host.key('acme', 'read:crm')
  const login = `'${process.execPath}' '${COMMAND}' login work --url ${host.url}`
  const env = { PATH: process.env.PATH, HOME: tilde.folder, ...COMPILED }
  const terminal = spawn('script', ['-qefc', login, '/dev/null'], { env, stdio: ['pipe', 'pipe', 'inherit'] })
  let shown = ''
  terminal.stdout.setEncoding('utf8').on('data', (text) => {
    const isAsked = !shown.includes('Key: ')
    shown += text
    if (isAsked && shown.includes('Key: ')) terminal.stdin.write(`${secret}\r`)
  })

  const [code] = await once(terminal, 'close')

  expect([code, shown]).toEqual([0, expect.stringContaining('Signed in')])
  expect(shown).not.toContain(secret.slice(3, 20))
  expect(readFileSync(join(tilde.folder, '.config', 'tilde', 'profiles.json'), 'utf8')).toContain(secret)
})

/** How a shell is asked what it would complete a line with, once it has read the script. */
const COMPLETED: { readonly [shell: string]: (line: string) => readonly string[] } = {
  bash: (line) => [
    '-c',
    `compopt() { :; }; source "$0"; COMP_WORDS=(${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _tilde; printf "%s\\n" "\${COMPREPLY[@]}"`,
  ],
  fish: (line) => ['-c', `source $argv[1]; complete -C "${line}"`],
  // Nothing is completed outside of a terminal: it is read, and no more.
  zsh: () => ['-n'],
}

describe.each(['bash', 'fish', 'zsh'])('%s', (shell) => {
  const missing = whyNot(shell)

  test.skipIf(missing)(
    `${shell} completes types, words, flags and values from the script it is given${missing ?? ''}`,
    async () => {
      const bin = join(tilde.folder, 'bin')
      const script = join(tilde.folder, `completion.${shell}`)
      mkdirSync(bin, { recursive: true })
      writeFileSync(join(bin, 'tilde'), `#!/bin/sh\nexec '${process.execPath}' '${COMMAND}' "$@"\n`)
      chmodSync(join(bin, 'tilde'), 0o755)
      writeFileSync(script, (await tilde('completion', shell)).out)
      const service = { TILDE_URL: host.url, TILDE_ROOT_KEY: ROOT, TILDE_TENANT: 'acme' }
      const env = { PATH: `${bin}:${process.env.PATH}`, HOME: tilde.folder, ...COMPILED, ...service }

      for (const [line, completed] of [
        ['tilde Conta', 'Contact.\n'],
        ['tilde keys rev', 'revoke\n'],
        ['tilde Contact.find --leadSc', '--leadScore\n'],
        ['tilde Contact.find --stage Cu', 'Customer\n'],
      ] as const) {
        const { stdout, stderr } = await promisify(execFile)(shell, [...COMPLETED[shell]!(line), script], { env })

        expect([line, stdout, stderr]).toEqual([line, shell === 'zsh' ? '' : completed, ''])
      }
    },
  )
})
