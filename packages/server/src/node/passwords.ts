import * as crypto from 'node:crypto'
import { Problem } from '@tildebase/nouns'
import type { Passwords } from '../identity/ports.ts'

/** Argon2id with 19 MiB and two passes, as OWASP advises for one lane. */
const MEMORY_KIB = 19_456
const PASSES = 2
const LENGTH = 32
/** One at a time in each thread of tenants: attempts wait for each other, not requests for them. */
const MOST_WAITING = 64

// By name it could not be imported where it is missing: on Node before 24.7.
const { argon2 } = crypto as Partial<typeof crypto>

/** Whether this Node has Argon2. */
export const hasPasswords = typeof argon2 === 'function'

/** Hashes of passwords, or undefined where this Node has no Argon2. */
export function createPasswords(): Passwords | undefined {
  if (!hasPasswords) return undefined
  const turn = turns()
  const nobody = Buffer.alloc(LENGTH)
  return {
    async hash(password) {
      const nonce = crypto.randomBytes(16)
      const tag = await turn(() => derive(password, nonce, MEMORY_KIB, PASSES))
      return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${text(nonce)}$${text(tag)}`
    },
    async verify(password, hash) {
      const known = hash === null ? null : read(hash)
      const { memory, passes, nonce, tag } = known ?? {
        memory: MEMORY_KIB,
        passes: PASSES,
        nonce: nobody.subarray(0, 16),
        tag: nobody,
      }
      const derived = await turn(() => derive(password, nonce, memory, passes))
      return derived.length === tag.length && crypto.timingSafeEqual(derived, tag) && known !== null
    },
  }
}

function derive(password: string, nonce: Buffer, memory: number, passes: number): Promise<Buffer> {
  const message = password.normalize('NFKC')
  return new Promise((done, failed) => {
    const parameters = { message, nonce, parallelism: 1, tagLength: LENGTH, memory, passes }
    argon2!('argon2id', parameters, (reason, tag) => (reason ? failed(reason) : done(tag)))
  })
}

/** Runs work one after the other; refuses more than can wait. */
function turns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve()
  let waiting = 0
  return async (work) => {
    if (waiting >= MOST_WAITING)
      throw new Problem('busy', 'Too many people sign in at this moment. Try again.', { retryAfter: 2 })
    waiting++
    const mine = last.then(work, work)
    last = mine.catch(() => {})
    try {
      return await mine
    } finally {
      waiting--
    }
  }
}

function read(hash: string) {
  const [, memory, passes, nonce, tag] = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=1\$([^$]+)\$([^$]+)$/.exec(hash) ?? []
  if (tag === undefined) return null
  return {
    memory: Number(memory),
    passes: Number(passes),
    nonce: Buffer.from(nonce!, 'base64'),
    tag: Buffer.from(tag, 'base64'),
  }
}

function text(bytes: Buffer): string {
  return bytes.toString('base64').replace(/=+$/, '')
}
