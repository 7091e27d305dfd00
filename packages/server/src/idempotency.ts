import { Problem } from '@tildebase/nouns'
import { forgetOldAnswers, keepAnswer, keptAnswer } from '@tildebase/tenant'
import type { Answer } from './ask.ts'
import type { Call } from './call.ts'
import { withoutSecrets } from './secrets.ts'

const DAY = 86_400_000
const MAX_KEY = 255

/** Runs a POST once per Idempotency-Key. The answer is kept in the transaction of the write, so a crash keeps both or none. */
export function remember(call: Call, work: () => Answer): Answer {
  const key = call.ask.headers['idempotency-key']
  if (key === undefined || call.ask.method !== 'POST') return work()
  if (key === '' || key.length > MAX_KEY) {
    throw new Problem('invalid_parameter', `An Idempotency-Key has 1 to ${MAX_KEY} characters.`, {
      field: 'Idempotency-Key',
    })
  }
  const { tenant } = call
  const now = tenant.ports.clock.now()
  const scope = JSON.stringify([call.grant.actor, call.ask.method, call.ask.path, key])
  const fingerprint = fingerprintOf(call)
  forgetOldAnswers(tenant.sql, now - DAY)
  const kept = keptAnswer(tenant.sql, scope)
  if (kept) {
    if (kept.fingerprint !== fingerprint) {
      throw new Problem(
        'idempotency_mismatch',
        'This Idempotency-Key was used with another body. Use a new key for a new request.',
        {
          field: 'Idempotency-Key',
        },
      )
    }
    return {
      status: kept.status,
      headers: { ...JSON.parse(kept.headers), 'idempotency-replayed': 'true' },
      body: kept.body,
    }
  }
  const answer = work()
  const body = typeof answer.body === 'string' ? withoutSecret(answer.body) : null
  keepAnswer(tenant.sql, scope, {
    fingerprint,
    status: answer.status,
    headers: JSON.stringify(answer.headers),
    body,
    at: now,
  })
  return answer
}

/** A secret is shown once: what is kept, and replayed, is the answer without it. */
function withoutSecret(body: string): string {
  if (!body.includes('"secret"')) return body
  return JSON.stringify(withoutSecrets(JSON.parse(body)))
}

function fingerprintOf(call: Call): string {
  const body = call.ask.body instanceof Uint8Array ? call.ask.body : new Uint8Array()
  return Array.from(call.tenant.ports.seal.sha256(call.ask.query, '\n', body), (byte) => byte.toString(16)).join('')
}
