import { randomBytes, timingSafeEqual } from 'node:crypto'
import { Problem } from '@tildebase/nouns'
import type { Passwords } from '../doors/identity/ports.ts'

/** Argon2id with 19 MiB and two passes, as OWASP advises for one lane. */
const MEMORY_KIB = 19_456
const PASSES = 2
const LENGTH = 32
/** One at a time in each thread of tenants: attempts wait for each other, not requests for them. */
const MOST_WAITING = 64

/** Derives a key from a password with Argon2id and one lane. */
export type Derive = (
  password: string,
  nonce: Uint8Array,
  memoryKib: number,
  passes: number,
  length: number,
) => Promise<Uint8Array>

/** Hashes of passwords, made with the Argon2id of a host. */
export function passwordsWith(derive: Derive): Passwords {
  const turn = turns()
  const placeholder = Buffer.alloc(LENGTH)
  const derived = (password: string, nonce: Uint8Array, memory: number, passes: number) =>
    turn(() => derive(password.normalize('NFKC'), nonce, memory, passes, LENGTH))
  return {
    async hash(password) {
      const nonce = randomBytes(16)
      const tag = await derived(password, nonce, MEMORY_KIB, PASSES)
      return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=1$${text(nonce)}$${text(tag)}`
    },
    async verify(password, hash) {
      const known = hash === null ? null : read(hash)
      const { memory, passes, nonce, tag } = known ?? {
        memory: MEMORY_KIB,
        passes: PASSES,
        nonce: placeholder.subarray(0, 16),
        tag: placeholder,
      }
      const found = await derived(password, nonce, memory, passes)
      return found.length === tag.length && timingSafeEqual(found, tag) && known !== null
    },
  }
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

function text(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64').replace(/=+$/, '')
}
