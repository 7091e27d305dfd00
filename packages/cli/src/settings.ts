import type { Given } from './entities/given.ts'
import { UsageError } from './parse/usage-error.ts'
import { readProfiles } from './profiles.ts'

/** The service, the key, and the form of the output. */
export interface Settings {
  readonly url: string
  readonly tenant: string | undefined
  readonly key: string | undefined
  /** The key for operations on whole tenants. */
  readonly operatorKey: string | undefined
  readonly profile: string
  /** Whether the key is the one of the profile. */
  readonly isSaved: boolean
  readonly json: boolean
  readonly dryRun: boolean
  readonly asOf: string | undefined
  /** Whether to wait for the end of a write that the service continues as a task. */
  readonly wait: boolean
  /** The title or the id of the changeset for proposed writes. */
  readonly propose: string | undefined
}

type Env = { readonly [name: string]: string | undefined }

/** A flag overrides a variable, a variable overrides the profile; a profile that a flag names overrides variables. */
export function settingsOf(given: Given, env: Env): Settings {
  const named = given.text('profile')
  const { current, profiles } = readProfiles(env)
  const profile = named ?? (env.TILDE_PROFILE || current)
  const known = profiles[profile]
  if (named !== undefined && !known) {
    const names = Object.keys(profiles).join(', ')
    throw new UsageError(`There is no profile ${named}${names ? `; there is ${names}` : ''}. Create one: tilde login`)
  }
  const pick = (flag: string, saved: string | undefined, ...variables: string[]) => {
    const told = variables.map((name) => env[name]).find((value) => value !== undefined && value !== '')
    return given.text(flag) ?? (named === undefined ? (told ?? saved) : (saved ?? told))
  }
  const key = pick('key', known?.key, 'TILDE_KEY', 'TILDE_ROOT_KEY')
  return {
    url: pick('url', known?.url, 'TILDE_URL') ?? 'http://localhost:8787',
    // A key ends with its tenant's name, so the key is enough.
    tenant: pick('tenant', known?.tenant, 'TILDE_TENANT') ?? key?.split('~')[1],
    key,
    operatorKey: pick('key', known?.key, 'TILDE_ROOT_KEY', 'TILDE_KEY'),
    profile,
    isSaved: key !== undefined && key === known?.key,
    json: given.has('json'),
    dryRun: given.has('dry-run'),
    asOf: given.text('as-of'),
    wait: !given.has('no-wait'),
    propose: given.text('propose'),
  }
}
