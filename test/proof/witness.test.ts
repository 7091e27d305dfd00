import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromBase64, parseCheckpoint, parseNote, parseVerifierKey, validSignatures } from '@tildebase/nouns'
import { afterEach, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { ed25519, sha256 } from './crypto.ts'

const started: TestHost[] = []
afterEach(async () => {
  for (const host of started.splice(0).reverse()) await host.stop()
})

async function start(env: Record<string, string>, flags: Record<string, string> = {}): Promise<TestHost> {
  const host = await testHost(env, flags)
  started.push(host)
  return host
}

const SEED = Buffer.alloc(32, 3).toString('base64')

/** The public key that belongs to SEED, as a service publishes it. */
async function publicKey(): Promise<string> {
  const host = await testHost({ TILDE_SIGNING_KEY: SEED })
  const { keys } = (await host.request('GET', '/.well-known/tilde-keys')).body
  await host.stop()
  return keys[0].publicKey
}

/** A witness of log.example, and a service of that name which asks it. */
async function pair() {
  const witness = await start({
    TILDE_WITNESS_FOR: `log.example ${await publicKey()}`,
    TILDE_BASE_URL: 'https://w.example',
  })
  const { witness: key } = (await witness.request('GET', '/.well-known/tilde-keys')).body
  const env = {
    TILDE_BASE_URL: 'https://log.example',
    TILDE_SIGNING_KEY: SEED,
    TILDE_WITNESSES: `${key} ${witness.url}/witness`,
  }
  return { witness, key: parseVerifierKey(sha256, key)!, env, log: await start(env) }
}

async function write(host: TestHost, count: number, tenant = 'acme'): Promise<void> {
  const rows = Array.from({ length: count }, (_, i) => ({ name: `Person ${i}` }))
  await host.request('POST', `/~${tenant}/import/Contact`, rows)
}

const read = async (host: TestHost, tenant = 'acme') =>
  (await host.request('GET', `/~${tenant}/checkpoint`, undefined, { accept: 'application/json' })).body

/** Sends `add-checkpoint`, which needs no key. */
async function add(witness: TestHost, old: number, proof: readonly string[], note: string) {
  const body = `old ${old}\n${proof.map((hash) => `${hash}\n`).join('')}\n${note}`
  return witness.as('')('POST', '/witness/add-checkpoint', body)
}

describe('a witness', () => {
  verifies('proof.witness', 'cosigns the checkpoints of a service that names it', async () => {
    const { log, key, witness } = await pair()
    await write(log, 5)

    const body = await read(log)
    const signatures = await validSignatures(sha256, ed25519, parseNote(body.note)!, [key])

    expect(key).toMatchObject({ name: 'w.example/witness', use: 'cosignature' })
    expect(body.witnesses).toEqual([
      { name: 'w.example/witness', size: 5, cosignedAt: expect.any(String), error: null },
    ])
    expect(signatures).toHaveLength(1)
    expect((await read(log)).note).toBe(body.note)
    const hash = createHash('sha256').update('log.example/~acme').digest('hex')
    expect((await witness.as('')('GET', `/witness/${hash}/checkpoint`)).text).toBe(body.note)
    expect((await witness.as('')('GET', `/witness/${'0'.repeat(64)}/checkpoint`)).status).toBe(404)
  })

  verifies('proof.witness.fork', 'refuses a log that was rewritten, and one that is shorter than it was', async () => {
    const { log, env, witness } = await pair()
    await write(log, 10)
    await read(log)
    // Another data folder under the same name and key: what a forking operator has.
    const other = await start(env)
    const shorter = await start(env)

    await write(other, 12)
    await write(shorter, 4)

    expect((await read(other)).witnesses[0].error).toBe('The witness has seen a different history of this log.')
    expect((await read(shorter)).witnesses[0].error).toBe(
      'The witness has seen 10 events, but this log has 4: it became shorter.',
    )
    expect(parseNote((await read(other)).note)!.signatures.map(({ name }) => name)).toEqual(['log.example/~acme'])
    expect((await witness.request('GET', '/.well-known/tilde-keys')).body.witness).toContain('w.example/witness+')
  })

  verifies('proof.witness.fork', 'remembers what it cosigned over a restart', async () => {
    const data = mkdtempSync(join(tmpdir(), 'tildebase-witness-'))
    const own = { TILDE_WITNESS_FOR: `log.example ${await publicKey()}`, TILDE_BASE_URL: 'https://w.example' }
    const log = await start({ TILDE_BASE_URL: 'https://log.example', TILDE_SIGNING_KEY: SEED })
    await write(log, 6)
    const { note } = await read(log)
    const first = await testHost(own, { data })
    const cosigned = await add(first, 0, [], note)
    await first.stop()

    const again = await testHost(own, { data })
    const repeated = await add(again, 0, [], note)
    const known = await add(again, 6, [], note)
    await again.stop()

    expect(cosigned.status).toBe(200)
    expect([repeated.status, repeated.text, repeated.headers.get('content-type')]).toEqual([
      409,
      '6\n',
      'text/x.tlog.size',
    ])
    expect([known.status, known.text.split(' ').slice(0, 2)]).toEqual([200, ['—', 'w.example/witness']])
    rmSync(data, { recursive: true })
  })

  test.each([
    ['a log that it does not know', 404, (note: string) => note.replaceAll('log.example', 'evil.example')],
    ['a signature that is not valid', 403, (note: string) => note.replace(/\n6\n/, '\n7\n')],
    ['a text that is none', 400, () => 'nothing'],
    ['a text that is too long', 400, (note: string) => `${note}${'— x AAAAAAAA\n'.repeat(5_000)}`],
  ])('answers %s with %i', async (_, status, change) => {
    const { witness } = await pair()
    const log = await start({ TILDE_BASE_URL: 'https://log.example', TILDE_SIGNING_KEY: SEED })
    await write(log, 6)
    const { note } = await read(log)

    expect((await add(witness, 0, [], change(note))).status).toBe(status)
  })

  test('answers a wrong consistency proof with 422, and an old size above the new one with 400', async () => {
    const { witness } = await pair()
    const log = await start({ TILDE_BASE_URL: 'https://log.example', TILDE_SIGNING_KEY: SEED })
    await write(log, 6)
    const first = await read(log)
    await write(log, 5)
    const second = await read(log)
    const { proof } = (await log.request('GET', '/~acme/consistency?from=6')).body

    expect((await add(witness, 0, [first.root], first.note)).status).toBe(422)
    expect((await add(witness, 0, [], first.note)).status).toBe(200)
    expect((await add(witness, 6, [...proof].reverse(), second.note)).status).toBe(422)
    expect((await add(witness, 12, [], second.note)).status).toBe(400)
    expect((await add(witness, 6, proof, second.note)).status).toBe(200)
    expect(parseCheckpoint(parseNote(second.note)!.text)!.root).toEqual(fromBase64(second.root))
  })

  test('is asked for by the verifier when its key is given', async () => {
    const { log, witness } = await pair()
    await write(log, 3)
    const { note, key } = await read(log)
    const { witness: known } = (await witness.request('GET', '/.well-known/tilde-keys')).body
    const file = (name: string, text: string) => {
      writeFileSync(join(log.data, name), text)
      return join(log.data, name)
    }
    const lines = file('log.ndjson', (await log.request('GET', '/operator/tenants/acme/log')).text)
    const verify = (checkpoint: string) => {
      const program = join(import.meta.dirname, '../../docs/verify.py')
      const args = [program, 'log', file('checkpoint.txt', checkpoint), key, lines, '--witness', known]
      const { status, stderr } = spawnSync('python3', args, { encoding: 'utf8' })
      return [status, stderr]
    }

    expect(verify(note)).toEqual([0, ''])
    const alone = note
      .split('\n')
      .filter((line: string) => !line.startsWith('— w.example'))
      .join('\n')
    expect(verify(alone)).toEqual([1, 'REJECTED: The witness w.example/witness did not cosign the checkpoint.\n'])
    const later = note.replace(/(— w\.example\S+ \S{8})\S/, '$1/')
    expect(verify(later)).toEqual([1, 'REJECTED: A signature of w.example/witness is wrong.\n'])
  })

  test('that does not answer keeps no checkpoint from being signed', async () => {
    const { log, witness } = await pair()
    await write(log, 2)
    started.splice(started.indexOf(witness), 1)
    await witness.stop()

    const { note, witnesses } = await read(log)

    expect(parseNote(note)!.signatures).toHaveLength(1)
    expect(witnesses).toMatchObject([{ size: 0, cosignedAt: null, error: expect.any(String) }])
  })
})

describe('a service that is not a witness', () => {
  test('has no such path, and reads no body', async () => {
    const host = await start({})

    expect((await add(host, 0, [], 'x')).status).toBe(404)
    expect((await host.request('GET', '/.well-known/tilde-keys')).body.witness).toBeNull()
  })

  test.each([
    ['TILDE_WITNESSES', 'https://w.example'],
    ['TILDE_WITNESSES', 'name+00000000+AAAA https://w.example'],
    ['TILDE_WITNESS_FOR', 'log.example'],
    ['TILDE_WITNESS_FOR', 'log.example short'],
  ])('refuses %s = %s', async (name, value) => {
    await expect(testHost({ [name]: value })).rejects.toThrow(name)
  })
})
