import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, Problem } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { demandReading } from '../../host/pages.ts'
import type { Seed } from '../../host/proof/signer.ts'
import { KEYS_PATH, keysPage } from '../../host/proof/signing-keys.ts'
import { LONGEST_REQUEST, WitnessService } from '../../host/proof/witness.ts'
import type { Settings } from '../../host/settings/settings.ts'
import type { SigningKeyFile } from '../secrets/signing-key-file.ts'
import { WitnessDb } from '../secrets/witness-db.ts'

/** The paths of this host that concern proof: public keys, and the witness where the operator made it one. */
export class ProofPages {
  readonly #keys: SigningKeyFile
  #db: WitnessDb | null
  readonly #witness: () => WitnessService | null

  constructor(settings: Settings, keys: SigningKeyFile, baseUrl: () => string) {
    this.#keys = keys
    const { witnessedServices, data } = settings
    if (witnessedServices.length === 0) {
      this.#db = null
      this.#witness = () => null
      return
    }
    const db = new WitnessDb(join(data, 'witness.db'))
    const seed = keptSeed(join(data, 'witness.key'))
    this.#db = db
    this.#witness = () => {
      const name = `${baseUrl().replace(/^https?:\/\//, '')}/witness`
      return new WitnessService(name, seed, witnessedServices, db)
    }
  }

  /** Whether a request without a key has a body that is of use here: one that says how short it is. */
  takesBody({ headers }: HttpRequest, segments: readonly string[]): boolean {
    const isShort = Number(headers['content-length'] ?? Number.NaN) <= LONGEST_REQUEST
    return isShort && this.#db !== null && segments.join('/') === 'witness/add-checkpoint'
  }

  /** Answers a path; null for other paths. */
  async answer(request: HttpRequest, segments: readonly string[]): Promise<HttpResponse | null> {
    const witness = this.#witness()
    if (segments.join('/') === KEYS_PATH)
      return keysPage(request, await this.#keys.keys(), (await witness?.key()) ?? null)
    if (segments[0] !== 'witness' || witness === null) return null
    const [, first, last, ...more] = segments
    if (first === 'add-checkpoint' && last === undefined) return add(witness, request)
    if (last !== 'checkpoint' || more.length > 0) return null
    demandReading(request.method)
    return witness.checkpoint(first!)
  }

  close(): void {
    this.#db?.close()
    this.#db = null
  }
}

function add(witness: WitnessService, { method, body }: HttpRequest): Promise<HttpResponse> {
  if (method !== 'POST') {
    throw new Problem('method_not_allowed', `${method} is not supported here; use POST.`, { allow: 'POST' })
  }
  return witness.add(body instanceof Uint8Array ? body : new Uint8Array())
}

/** The private key of the witness, which is made once. */
function keptSeed(path: string): Seed {
  if (!existsSync(path)) writeFileSync(path, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' })
  const seed = fromBase64(readFileSync(path, 'utf8').trim())
  if (seed?.length === 32) return seed
  throw new Problem('unavailable', `${path} contains no key: restore it, or move it away to create a new one.`)
}
