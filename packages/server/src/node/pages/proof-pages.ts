import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fromBase64, Problem } from '@tildebase/nouns'
import type { HttpRequest, HttpResponse } from '../../doors/http.ts'
import { demandReading } from '../../host/pages.ts'
import { systemSeal } from '../../host/ports.ts'
import type { Seed } from '../../host/proof/signer.ts'
import { KEYS_PATH, keysPage } from '../../host/proof/signing-keys.ts'
import { LONGEST_REQUEST, type Seen, type WitnessMemory, WitnessService } from '../../host/proof/witness.ts'
import type { Settings } from '../../host/settings/settings.ts'
import type { SigningKeyFile } from '../secrets/signing-key-file.ts'
import { openSql } from '../sqlite/sql.ts'

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

/** What this service remembers as a witness, in its own database. */
class WitnessDb implements WitnessMemory {
  readonly #sql: ReturnType<typeof openSql>

  constructor(path: string) {
    this.#sql = openSql(path)
    this.#sql.run(
      'CREATE TABLE IF NOT EXISTS seen (origin TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT) WITHOUT ROWID',
    )
  }

  read(origin: string): Seen | null {
    const row = this.#sql.rows('SELECT size, root FROM seen WHERE origin = ?', origin)[0]
    return row ? { size: row[0], root: row[1] } : null
  }

  write(origin: string, { size, root }: Seen): void {
    this.#sql.run(
      'INSERT INTO seen (origin, hash, size, root) VALUES (?, ?, ?, ?) ON CONFLICT (origin) DO UPDATE SET size = excluded.size, root = excluded.root',
      origin,
      Buffer.from(systemSeal.sha256(origin)).toString('hex'),
      size,
      root,
    )
  }

  keep(origin: string, note: string): void {
    this.#sql.run('UPDATE seen SET note = ? WHERE origin = ?', note, origin)
  }

  noteOf(originHash: string): string | null {
    return this.#sql.rows('SELECT note FROM seen WHERE hash = ?', originHash)[0]?.[0] ?? null
  }

  close(): void {
    this.#sql.close()
  }
}
