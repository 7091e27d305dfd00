import { closeSync, openSync, rmSync, statSync } from 'node:fs'
import { type Profile, profilesPath, readProfiles, writeProfiles } from '../profiles.ts'
import { oauthForm, tokensOf } from './tokens.ts'

const EARLY = 60_000
const STALE = 30_000

type Env = { readonly [name: string]: string | undefined }

/**
 * The key of a profile, renewed before it expires. A refresh token works once, so only one process uses it: the others
 * wait, and find the new one in the file.
 */
export async function freshKey(env: Env, name: string): Promise<string | undefined> {
  const known = readProfiles(env).profiles[name]
  if (!known?.refresh || !isEnding(known)) return known?.key
  const release = await lock(`${profilesPath(env)}.lock`)
  try {
    const all = readProfiles(env)
    const now = all.profiles[name]
    if (!now?.refresh || !isEnding(now)) return now?.key
    const fields = { grant_type: 'refresh_token', refresh_token: now.refresh }
    const tokens = tokensOf(await oauthForm(now.url, now.tenant ?? '', 'token', fields))
    writeProfiles(env, { ...all, profiles: { ...all.profiles, [name]: { ...now, ...tokens } } })
    return tokens.key
  } catch {
    // The next request with the old key returns the error.
    return known.key
  } finally {
    release()
  }
}

function isEnding({ until }: Profile): boolean {
  return (until ?? 0) < Date.now() + EARLY
}

async function lock(path: string): Promise<() => void> {
  for (;;) {
    try {
      closeSync(openSync(path, 'wx', 0o600))
      return () => rmSync(path, { force: true })
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== 'EEXIST') throw reason
      // Left by a process that was killed.
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
      if (Date.now() - at > STALE) rmSync(path, { force: true })
      else await new Promise((done) => setTimeout(done, 100))
    }
  }
}
