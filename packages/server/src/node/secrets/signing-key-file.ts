import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, Problem } from '@tildebase/nouns'
import type { Signer } from '@tildebase/tenant/ports'
import { createSigner, type Seed } from '../../host/proof/signer.ts'
import { type SigningKey, succeeding } from '../../host/proof/signing-keys.ts'
import type { Settings } from '../../host/settings/settings.ts'

/** What the file holds: the private key of today, and all public keys, newest first. */
interface Content {
  readonly privateKey: string
  readonly keys: readonly SigningKey[]
}

type Given = Pick<Settings, 'data' | 'signingKey' | 'retiredKeys'>

/** The keys that sign checkpoints: those that are set, or those of a file in the data folder that only we can read. */
export class SigningKeyFile {
  readonly #path: string
  readonly #given: Given
  #content: Content | null = null
  #readAt = ''

  constructor(given: Given) {
    this.#given = given
    this.#path = join(given.data, 'signing.key')
  }

  /** Makes the first key where there is none. Once per start of the host, in one thread. */
  async prepare(): Promise<void> {
    if (this.#given.signingKey !== null || existsSync(this.#path)) return
    await this.#replace(null)
  }

  /** Signs with the key of today, whichever thread made it. */
  signer(): Signer {
    return createSigner(() => this.#seed())
  }

  /** The public keys, newest first. */
  async keys(): Promise<readonly SigningKey[]> {
    const { signingKey, retiredKeys } = this.#given
    if (signingKey === null) return this.#read().keys
    const current = { ...(await succeeding(null, signingKey, '')), from: null }
    const retired = retiredKeys.map((publicKey) => ({ publicKey, from: null, until: null, endorsement: null }))
    return [current, ...retired]
  }

  /** Signs with a new key from now on. The old private key is forgotten; its public key stays listed. */
  async rotate(): Promise<SigningKey> {
    if (this.#given.signingKey !== null) {
      throw new Problem(
        'not_supported',
        'The key is set by TILDE_SIGNING_KEY: set a new one, and add the old public key to TILDE_SIGNING_KEYS_RETIRED.',
      )
    }
    return this.#replace(this.#read())
  }

  async #replace(before: Content | null): Promise<SigningKey> {
    const seed = new Uint8Array(randomBytes(32))
    const now = new Date().toISOString()
    const key = await succeeding(before && seedOf(before.privateKey), seed, now)
    const [last, ...older] = before?.keys ?? []
    const keys = [key, ...(last ? [{ ...last, until: now }] : []), ...older]
    const text = JSON.stringify({ privateKey: Buffer.from(seed).toString('base64'), keys }, null, 2)
    const fresh = `${this.#path}.new`
    writeFileSync(fresh, `${text}\n`, { mode: 0o600 })
    syncFile(fresh)
    renameSync(fresh, this.#path)
    syncFile(this.#given.data)
    return key
  }

  #seed(): Seed {
    return this.#given.signingKey ?? seedOf(this.#read().privateKey)
  }

  /** Read again once it was changed: every thread has its own reader. */
  #read(): Content {
    const { mtimeMs, ino } = statSync(this.#path)
    const at = `${ino} ${mtimeMs}`
    if (this.#content === null || at !== this.#readAt) {
      this.#content = JSON.parse(readFileSync(this.#path, 'utf8')) as Content
      this.#readAt = at
    }
    return this.#content
  }
}

function seedOf(base64: string): Seed {
  const seed = fromBase64(base64)
  if (seed?.length === 32) return seed
  throw new Problem('unavailable', 'The file signing.key is damaged: restore it, or move it away to create a new key.')
}

function syncFile(path: string): void {
  const file = openSync(path, 'r')
  fsyncSync(file)
  closeSync(file)
}
