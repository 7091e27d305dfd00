import { type JsonObject, Problem } from '@tildebase/nouns'
import type { Engine } from '../../engine/engine.ts'
import { type Grant, OPERATOR } from '../../grant/grant.ts'
import { consentGrant, personGrant } from '../identity/people.ts'
import type { Keys } from '../keys.ts'

/** The file that a link shows: a field of an entity, as it was at an event. */
export interface LinkTarget {
  readonly type: string
  readonly id: string
  readonly field: string
  /** The place in a list. */
  readonly n: number | null
  readonly seq: number
}

interface SealedLink extends LinkTarget {
  readonly until: number
  readonly actor: string
  /** The consent of an agent. */
  readonly consent?: string
}

/** The last of a link's path: its target and its maker, encrypted. Nothing is stored. */
export function sealLink(engine: Engine, grant: Grant, target: LinkTarget, until: number): string {
  const { actor, credential } = grant
  const link: SealedLink = { ...target, until, actor, ...(isAgent(actor) && credential && { consent: credential }) }
  if (grantNow(engine, null, link) === null && !actor.startsWith('apiKey_'))
    throw new Problem('forbidden', 'Only keys, people and agents make links.')
  const sealed = engine.ports.vault.encrypt(JSON.stringify({ link }))
  return sealed.slice(FORM.length).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** What a link shows, and the rights that its maker has now; null when it has expired, or when it is not one. */
export function openLink(
  engine: Engine,
  keys: Keys,
  text: string,
): { readonly target: LinkTarget; readonly grant: Grant } | null {
  const sealed = engine.ports.vault.decrypt(`${FORM}${text.replaceAll('-', '+').replaceAll('_', '/')}`)
  const link = sealed === null ? undefined : (JSON.parse(sealed) as { link?: SealedLink } & JsonObject).link
  if (link === undefined || link.until <= engine.ports.clock.now()) return null
  const grant = grantNow(engine, keys, link)
  const { type, id, field, n, seq } = link
  return grant && { target: { type, id, field, n, seq }, grant }
}

/** What the vault puts before its secrets. */
const FORM = 'v1:'

/** What the maker of a link may do now, or null when it is no more. */
function grantNow(engine: Engine, keys: Keys | null, { actor, consent }: SealedLink): Grant | null {
  if (actor === OPERATOR.actor) return OPERATOR
  if (actor.startsWith('apiKey_')) return keys?.renew({ actor, scopes: [], rows: {} }) ?? null
  if (isAgent(actor)) return consent === undefined ? null : consentGrant(engine, consent)
  return personGrant(engine, actor)
}

function isAgent(actor: string): boolean {
  return actor.startsWith('agent_')
}
