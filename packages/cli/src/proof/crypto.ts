import { createHash, createPublicKey, verify } from 'node:crypto'
import type { Sha256, VerifySignature } from '@tildebase/nouns'

/** What precedes the 32 bytes of a public key in SPKI. */
const SPKI = Buffer.from('302a300506032b6570032100', 'hex')

export const sha256: Sha256 = (...parts) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest()
}

export const verifyEd25519: VerifySignature = (publicKey, message, signature) => {
  const key = createPublicKey({ key: Buffer.concat([SPKI, publicKey]), format: 'der', type: 'spki' })
  return verify(null, Buffer.from(message), key, signature)
}
