import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { Vault } from '@tildebase/tenant/ports'

const FORM = 'v1:'
const IV_LENGTH = 12
const TAG_LENGTH = 16

/** Encrypts the secrets of one tenant with AES-256-GCM, under a key derived from the service's own. */
export function createVault(secretKey: string, slug: string): Vault {
  let derived: Buffer | null = null
  const key = (): Buffer => {
    derived ??= Buffer.from(hkdfSync('sha256', secretKey, slug, 'tildebase secrets', 32))
    return derived
  }
  return {
    encrypt(text) {
      const iv = randomBytes(IV_LENGTH)
      const cipher = createCipheriv('aes-256-gcm', key(), iv)
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return FORM + Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
    },
    decrypt(sealed) {
      if (!sealed.startsWith(FORM)) return null
      const bytes = Buffer.from(sealed.slice(FORM.length), 'base64')
      // A text that is too short was not made here: any client can send one.
      if (bytes.length < IV_LENGTH + TAG_LENGTH) return null
      const decipher = createDecipheriv('aes-256-gcm', key(), bytes.subarray(0, IV_LENGTH))
      decipher.setAuthTag(bytes.subarray(IV_LENGTH, IV_LENGTH + TAG_LENGTH))
      try {
        return Buffer.concat([decipher.update(bytes.subarray(IV_LENGTH + TAG_LENGTH)), decipher.final()]).toString(
          'utf8',
        )
      } catch {
        return null
      }
    },
  }
}
