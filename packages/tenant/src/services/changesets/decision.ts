import type { Engine } from '../../engine/engine.ts'
import type { Changeset } from './changeset.ts'
import { staleAt } from './stale.ts'

interface SealedDecision {
  /** The id of the changeset. */
  readonly decide: string
  readonly until: number
}

/** The signature in the address of the page on which a person decides. It ends with the time of the changeset, and allows nothing. */
export function sealDecision(engine: Engine, { id, entity }: Changeset): string {
  const state: SealedDecision = { decide: id, until: staleAt(engine, entity.createdAt) }
  const sealed = engine.ports.vault.encrypt(JSON.stringify(state))
  return sealed.slice(FORM.length).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** Whether a signature was made here for this changeset, and has not ended. */
export function isDecision(engine: Engine, id: string, signature: string): boolean {
  const sealed = engine.ports.vault.decrypt(`${FORM}${signature.replaceAll('-', '+').replaceAll('_', '/')}`)
  if (sealed === null) return false
  const { decide, until } = JSON.parse(sealed) as Partial<SealedDecision>
  return decide === id && typeof until === 'number' && until > engine.ports.clock.now()
}

/** The first letters of everything that the vault encrypts. */
const FORM = 'v1:'
