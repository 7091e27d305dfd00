import type { Outbound, Witness } from '@tildebase/tenant/ports'
import type { WitnessSetting } from '../settings/proof-settings.ts'

const TIMEOUT_MS = 5_000
const LONGEST_ANSWER = 16_384

/** The witnesses that the operator names. `outbound` may reach every address: no tenant chooses these. */
export function createWitnesses(settings: readonly WitnessSetting[], outbound: Outbound): Witness[] {
  return settings.map(({ key: { name, publicKey }, url }) => ({
    name,
    publicKey,
    submit: (body) =>
      outbound.send({
        url: `${url}/add-checkpoint`,
        headers: { 'content-type': 'text/plain; charset=utf-8' },
        body,
        timeoutMs: TIMEOUT_MS,
        answerLimit: LONGEST_ANSWER,
      }),
  }))
}
