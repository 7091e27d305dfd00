import { t } from '../texts/text.ts'
import { request } from './service.ts'

interface Started {
  readonly options: PublicKeyCredentialCreationOptionsJSON
  readonly challenge: string
}

/** Adds a passkey to the account of the person who is signed in. */
export async function addPasskey(): Promise<void> {
  const { options, challenge } = await request<Started>('POST', '/account/passkeys/options', { body: {} })
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential | null
  if (!credential) return
  const name = navigator.platform || t('Passkey')
  await request('POST', '/account/passkeys', { body: { challenge, response: credential.toJSON(), name } })
}
