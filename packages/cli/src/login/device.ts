import { UsageError } from '../parse/usage-error.ts'
import { oauthForm, type Tokens, tokensOf } from './tokens.ts'

/** Shows a code for the person to enter in a browser elsewhere, and waits for it. */
export async function signInWithCode(
  url: string,
  tenant: string,
  scope: string,
  note: (text: string) => void,
): Promise<Tokens> {
  const started = await oauthForm(url, tenant, 'device', { scope })
  const { device_code: device, user_code: code, verification_uri: address, expires_in: lasts } = started
  if (typeof device !== 'string')
    throw new UsageError(String(started.error_description ?? 'This service does not support sign-in with a code.'))
  note(`Open ${address} in a browser and enter the code ${code}`)
  let wait = Number(started.interval ?? 5) * 1_000
  const end = Date.now() + Number(lasts) * 1_000
  while (Date.now() < end) {
    await new Promise((done) => setTimeout(done, wait))
    const answer = await oauthForm(url, tenant, 'token', {
      grant_type: 'urn:ietf:params:oauth:grant-type:device_code',
      device_code: device,
    })
    if (answer.error === 'slow_down') wait += 5_000
    else if (answer.error !== 'authorization_pending') return tokensOf(answer)
  }
  throw new UsageError('The code was not entered in time.')
}
