import { type Tildebase, tildebase, type Warning, type Wire, warningText, wireTo } from '@tildebase/client'
import type { NounMap } from '@tildebase/nouns'
import { cell } from '../output/cell.ts'
import { UsageError } from '../parse/usage-error.ts'
import type { Settings } from '../settings.ts'

/** The tenant that the command works on. */
export interface Link {
  readonly $: Tildebase<NounMap>
  readonly wire: Wire
  /** `/~acme`: the path of the tenant. */
  readonly root: string
}

const RETRIES = 2

/** A link to the tenant that the settings name. */
export function linkTo({ url, tenant, key }: Settings): Link {
  const apiKey = needed(key, 'No key was given. Use --key, set TILDE_KEY, or run: tilde login')
  const slug = needed(tenant, 'No tenant was given. Use --tenant or set TILDE_TENANT.')
  const options = { baseUrl: checked(url), apiKey, retries: RETRIES, onWarnings: toStandardError }
  return { $: tildebase<NounMap>({ ...options, tenant: slug }), wire: wireTo(options), root: `/~${slug}` }
}

/** A connection to the service, with the operator key. */
export function operatorWire({ url, operatorKey }: Settings): Wire {
  const apiKey = needed(operatorKey, 'This command needs the operator key. Use --key or set TILDE_ROOT_KEY.')
  return wireTo({ baseUrl: checked(url), apiKey, retries: RETRIES })
}

/** On standard error, because programs read the result. */
function toStandardError(warnings: readonly Warning[]): void {
  for (const warning of warnings) process.stderr.write(`tilde: ${cell(warningText(warning))}\n`)
}

function needed(value: string | undefined, sentence: string): string {
  if (value === undefined || value === '') throw new UsageError(sentence)
  return value
}

function checked(url: string): string {
  if (URL.canParse(url) && /^https?:/.test(url)) return url
  throw new UsageError(`--url must be a URL such as http://localhost:8787, not ${url}.`)
}
