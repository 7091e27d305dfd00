import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import type { Command } from '../command.ts'
import { linkTo } from '../link.ts'
import { profilesPath, readProfiles, writeProfiles } from '../profiles.ts'
import { someWords, standardInput } from '../words.ts'

export const command: Command = {
  usage: 'login [NAME] --url URL [--tenant TENANT]',
  summary: 'checks a key and keeps it as a profile, for you alone to read',
  flags: {},
  examples: [
    'tilde login --url https://tilde.example --key tb_…~acme',
    'tilde login staging --url https://staging.example < key.txt',
  ],
  async run(call) {
    const { settings, flags, out } = call
    const [name = settings.profile] = call.words.length > 1 ? someWords(call, ['a name']) : call.words
    const key = flags.text('key') ?? (await askKey())
    const tenant = flags.text('tenant') ?? key.split('~')[1] ?? settings.tenant
    const profile = { url: settings.url, tenant, key }
    await linkTo({ ...settings, ...profile }).$.schema()

    const { profiles } = readProfiles(process.env)
    writeProfiles(process.env, { current: name, profiles: { ...profiles, [name]: profile } })
    out.note(`Logged in to ${settings.url} as ${name}. The key is kept in ${profilesPath(process.env)}.`)
  },
}

/** The key, from a pipe or typed without being shown. */
async function askKey(): Promise<string> {
  if (!process.stdin.isTTY) return (await standardInput()).trim()
  const hidden = new Writable({ write: (_chunk, _encoding, done) => done() })
  const asking = createInterface({ input: process.stdin, output: hidden, terminal: true })
  const typed = asking.question('')
  // By now the terminal does not show what is typed.
  process.stderr.write('Key: ')
  const key = await typed
  asking.close()
  process.stderr.write('\n')
  return key.trim()
}
