import type { Command } from '../command.ts'
import { oauthForm } from '../login/tokens.ts'
import { someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'
import { readProfiles, writeProfiles } from '../profiles.ts'

export const command: Command = {
  usage: 'logout [NAME]',
  summary: 'signs you out, or deletes the key from a profile; the key itself stays valid until it is revoked',
  flags: {},
  examples: ['tilde logout', 'tilde logout staging'],
  async run({ words, settings, out }) {
    const [name = settings.profile] = words.length > 1 ? someWords({ words }, ['a profile']) : words
    const { current, profiles } = readProfiles(process.env)
    const { [name]: gone, ...rest } = profiles
    if (!gone) throw new UsageError(`There is no profile ${name}.`)
    const next = current === name ? (Object.keys(rest)[0] ?? 'default') : current
    writeProfiles(process.env, { current: next, profiles: rest })
    if (gone.refresh) await oauthForm(gone.url, gone.tenant ?? '', 'revoke', { token: gone.refresh }).catch(() => ({}))
    out.note(
      gone.refresh ? `Signed out of ${name}.` : `Deleted the profile ${name}. To revoke its key: tilde keys revoke ID`,
    )
  },
}
