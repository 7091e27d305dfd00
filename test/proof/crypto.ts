import { createHash, createPublicKey, verify } from 'node:crypto'
import type { VerifySignature } from '@tildebase/nouns'

/** SHA-256 over all parts. */
export const sha256 = (...parts: (string | Uint8Array)[]): Uint8Array => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest()
}

/** Whether a signature is valid, as OpenSSL sees it. */
export const ed25519: VerifySignature = (publicKey, message, signature) => {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey])
  return verify(null, Buffer.from(message), createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
}
