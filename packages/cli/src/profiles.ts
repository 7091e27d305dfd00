import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from './parse/usage-error.ts'

/** A saved login, with a key or as a person. */
export interface Profile {
  readonly url: string
  readonly tenant?: string | undefined
  readonly key: string
  /** For a person: the refresh token, and when the key expires. */
  readonly refresh?: string
  readonly until?: number
}

export interface Profiles {
  readonly current: string
  readonly profiles: { readonly [name: string]: Profile }
}

type Env = { readonly [name: string]: string | undefined }

/** The file of profiles, in the folder that XDG defines. */
export function profilesPath(env: Env): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homeFolder(), '.config'), 'tilde', 'profiles.json')
}

export function readProfiles(env: Env): Profiles {
  let path: string
  let text: string
  try {
    path = profilesPath(env)
    text = readFileSync(path, 'utf8')
  } catch {
    return { current: 'default', profiles: {} }
  }
  try {
    return { current: 'default', profiles: {}, ...JSON.parse(text) }
  } catch {
    throw new UsageError(`${path} is not valid JSON. Correct it, or delete it and run: tilde login`)
  }
}

/** Saves the profiles, readable only by this user, because they contain keys. */
export function writeProfiles(env: Env, profiles: Profiles): void {
  const path = profilesPath(env)
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  // Replaces the file, so that its mode applies from the first byte.
  const fresh = `${path}.${process.pid}`
  writeFileSync(fresh, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 })
  renameSync(fresh, path)
}

function homeFolder(): string {
  try {
    return homedir()
  } catch {
    // A service of systemd has a user that is in no list of users, and HOME is not set.
    throw new UsageError('This user has no home folder for the profile. Set HOME or XDG_CONFIG_HOME to a folder.')
  }
}
