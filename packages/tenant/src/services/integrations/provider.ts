import { Problem } from '@tildebase/nouns'
import { act } from '../../authorship/stored.ts'
import { type Patience, patient } from '../../connect/ask.ts'
import type { Ask } from '../../connect/connector.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Grant } from '../../grant/grant.ts'
import { connectedOf } from '../../store/automation/integrations.ts'
import { authoredIntegration, type ConnectorDeclaration, type IntegrationDeclaration } from './author.ts'

const REQUEST_MS = 30_000
const ANSWER_LIMIT = 16_777_216

/** A connected integration with its credentials, and the rights with which it runs. */
export interface OpenConnected {
  readonly declaration: IntegrationDeclaration
  readonly grant: Grant
  readonly token: string
  /** The time of the last run that ended well. */
  readonly since: string | null
}

/** Opens the credentials of an integration, which are for the address that they were checked at. */
export function openConnected(engine: Engine, id: string): OpenConnected {
  const stored = authoredIntegration(engine, id)
  const connected = connectedOf(engine.sql, id)
  if (!stored || !connected) throw new Problem('invalid_transition', 'This Integration must be connected again.')
  const { declaration, grant } = act(stored)
  if (connected.address !== declaration.address)
    throw new Problem('invalid_transition', 'Its address has changed. Connect it again.')
  const token = engine.ports.vault.decrypt(connected.credentials)
  if (token === null) throw new Problem('unavailable', 'The credentials cannot be decrypted. Connect it again.')
  return { declaration, grant, token, since: connected.since }
}

/** Asks the provider of an integration. */
export function askerOf(
  { ports }: Engine,
  { address, connector }: ConnectorDeclaration,
  token: string,
  patience: Omit<Patience, 'send' | 'now'>,
): Ask {
  const { outbound, clock } = ports
  if (!outbound) throw new Problem('not_supported', 'This service sends no requests.')
  const send = async (path: string) => {
    const answer = await outbound.send({
      method: 'GET',
      url: `${address}${path}`,
      headers: connector.headers(token),
      body: '',
      timeoutMs: REQUEST_MS,
      answerLimit: ANSWER_LIMIT,
    })
    return 'error' in answer
      ? answer
      : { status: answer.status, text: answer.text ?? '', headers: answer.headers ?? {} }
  }
  return patient({ ...patience, send, now: () => clock.now() })
}
