import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Call, Command } from '../command.ts'
import { linkTo } from '../link/link.ts'
import { browserCommand, signInWithBrowser } from '../login/browser.ts'
import { signInWithCode } from '../login/device.ts'
import type { Tokens } from '../login/tokens.ts'
import { someWords, standardInput } from '../output/words.ts'
import { profilesPath, readProfiles, writeProfiles } from '../profiles.ts'

export const command: Command = {
  usage: 'login [NAME] --url URL [--tenant TENANT]',
  summary: 'signs you in with your browser, or checks a key, and saves it as a profile that only you can read',
  flags: {
    device: { type: 'boolean', help: 'show a code to enter in a browser on another machine' },
    scope: { type: 'string', help: 'request only these scopes, such as "read:all"' },
  },
  examples: [
    'tilde login --url https://tilde.example --tenant acme',
    'tilde login --url https://tilde.example --key tb_…~acme',
    'tilde login staging --url https://staging.example < key.txt',
  ],
  async run(call) {
    const { settings, flags, out } = call
    const [name = settings.profile] = call.words.length > 1 ? someWords(call, ['a name']) : call.words
    const named = flags.text('tenant') ?? process.env.TILDE_TENANT
    const typed = flags.text('key') ?? (named && process.stdin.isTTY ? '' : await askKey(named !== undefined))
    const tokens = typed === '' && named ? await signIn(call, named) : { key: typed }
    const tenant = named ?? typed.split('~')[1] ?? settings.tenant
    const profile = { url: settings.url, tenant, ...tokens }
    await linkTo({ ...settings, ...profile }).$.schema()

    const { profiles } = readProfiles(process.env)
    writeProfiles(process.env, { current: name, profiles: { ...profiles, [name]: profile } })
    out.note(
      `Signed in to ${settings.url} as ${name}. ${typed ? 'The key' : 'The token'} is stored in ${profilesPath(process.env)}.`,
    )
  },
}

/** Signs a person in with a browser on this or another machine. */
function signIn({ settings, flags }: Call, tenant: string): Promise<Tokens> {
  const scope = flags.text('scope') ?? ''
  const browser = flags.has('device') ? null : browserCommand(process.env, process.platform)
  const url = settings.url.replace(/\/+$/, '')
  // Printed even if the output is a pipe: the person needs it to continue.
  const say = (text: string) => void process.stderr.write(`${text}\n`)
  if (browser === null) return signInWithCode(url, tenant, scope, say)
  return signInWithBrowser(url, tenant, scope, browser, say)
}

/** The key, from a pipe or typed without echo; empty if a person signs in instead. */
async function askKey(mayBeEmpty: boolean): Promise<string> {
  if (!process.stdin.isTTY || mayBeEmpty) return (await standardInput()).trim()
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const asking = createInterface({ input: process.stdin, output: hidden, terminal: true })
  const typed = asking.question('')
  // The terminal no longer echoes input here.
  process.stderr.write('Key: ')
  const key = await typed
  asking.close()
  process.stderr.write('\n')
  return key.trim()
}
