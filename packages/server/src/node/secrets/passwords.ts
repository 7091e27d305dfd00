import * as crypto from 'node:crypto'
import type { Passwords } from '../../doors/identity/ports.ts'
import { passwordsWith } from '../../host/passwords.ts'

// By name it could not be imported where it is missing: on Node before 24.7.
const { argon2 } = crypto as Partial<typeof crypto>

/** Whether this Node has Argon2. */
export const hasPasswords = typeof argon2 === 'function'

/** Hashes of passwords, or undefined where this Node has no Argon2. */
export function createPasswords(): Passwords | undefined {
  return hasPasswords ? passwordsWith(derive) : undefined
}

function derive(message: string, nonce: Uint8Array, memory: number, passes: number, tagLength: number) {
  return new Promise<Uint8Array>((done, failed) => {
    const parameters = { message, nonce, parallelism: 1, tagLength, memory, passes }
    argon2!('argon2id', parameters, (reason, tag) => (reason ? failed(reason) : done(tag)))
  })
}
