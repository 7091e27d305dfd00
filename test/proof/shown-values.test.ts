import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkEvent } from '../../packages/cli/src/proof/check-event.ts'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { openAcme } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'

const VERIFIER = join(import.meta.dirname, '../../docs/verify.py')
const TAMPERED = '{"name":"Mallory"}'
const WITHOUT_TRIGGERS = 'DROP TRIGGER log_unchanged; DROP TRIGGER log_kept;'

/** Ways to rewrite the values of event 2 that leave the chain alone. */
const REWRITTEN = [
  ['other values', `UPDATE log SET data = '${TAMPERED}' WHERE seq = 2`],
  ['other values and no salt', `UPDATE log SET data = '${TAMPERED}', salt = NULL WHERE seq = 2`],
  ['arguments and no salt', `UPDATE log SET data = NULL, args = '{}', salt = NULL WHERE seq = 2`],
] as const
const ERASED = 'UPDATE log SET data = NULL, previous = NULL, args = NULL, salt = NULL, digest = ? WHERE seq = 2'

describe('verify', () => {
  test.each(REWRITTEN)('finds %s', (_, tampering) => {
    const { tenant } = openAcme()
    for (const name of ['ada', 'bob', 'eve'])
      tenant.act({ type: 'Contact', verb: 'create', data: { name }, actor: 't' })
    for (const statement of WITHOUT_TRIGGERS.split(';').filter(Boolean)) tenant.sql.run(statement)
    tenant.sql.run(tampering)

    expect(tenant.facade.admin.verify()).toMatchObject({ ok: false, firstBad: 2 })
  })

  test('finds values missing without an Erasure, although their digest is there', () => {
    const { tenant } = openAcme()
    for (const name of ['ada', 'bob', 'eve'])
      tenant.act({ type: 'Contact', verb: 'create', data: { name }, actor: 't' })
    for (const statement of WITHOUT_TRIGGERS.split(';').filter(Boolean)) tenant.sql.run(statement)
    const [[salt, data]] = tenant.sql.rows('SELECT salt, data FROM log WHERE seq = 2') as [[Uint8Array, string]]
    tenant.sql.run(ERASED, tenant.engine.ports.seal.sha256(salt, data, '\n'))

    expect(tenant.facade.admin.verify().faults.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The values of contact_\w+ are missing, and no Erasure records that\.$/),
    ])
  })

  test('finds an entity whose measures are not those of its event', () => {
    const { tenant } = openAcme()
    const { entity } = tenant.act({ type: 'Deal', verb: 'create', data: { name: 'Engine', value: 1 }, actor: 't' })
    expect(tenant.facade.admin.verify().faults).toEqual([])
    tenant.sql.run(`UPDATE entities SET measured = json_set(measured, '$.value', 2)`)

    expect(tenant.facade.admin.verify().faults.map(({ message }) => message)).toContain(
      `The state of ${entity.id} differs from its event.`,
    )
  })
})

describe('a service whose file was changed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-shown-'))
  const env = { TILDE_SIGNING_KEY: Buffer.alloc(32, 8).toString('base64'), TILDE_BASE_URL: 'https://tilde.example' }
  let host: TestHost
  beforeAll(async () => {
    host = await testHost(env, { data: join(folder, 'data') })
  })
  afterAll(async () => {
    await host.stop()
    rmSync(folder, { recursive: true })
  })

  test.each(REWRITTEN.map(([name, sql], i) => [name, sql, `shown${i}`] as const))(
    'gives no proof of %s, no backup, and does not pass verify --against',
    async (_, tampering, slug) => {
      for (const name of ['ada', 'bob', 'eve']) await host.request('POST', `/~${slug}/Contact`, { name })
      const saved = join(folder, `${slug}.txt`)
      writeFileSync(saved, (await host.request('GET', `/~${slug}/checkpoint`)).text)
      const before = await host.request('GET', `/~${slug}/proof/2`)
      let tilde = tildeWith({ TILDE_URL: host.url, TILDE_TENANT: slug, TILDE_ROOT_KEY: ROOT })
      const against = () => tilde('verify', '--against', saved)
      const fine = await against()
      await host.stop()
      const database = new DatabaseSync(join(folder, 'data', 'tenants', slug.slice(0, 2), `${slug}.db`))
      database.exec(`${WITHOUT_TRIGGERS}${tampering}`)
      database.close()
      host = await testHost(env, { data: join(folder, 'data') })
      tilde = tildeWith({ TILDE_URL: host.url, TILDE_TENANT: slug, TILDE_ROOT_KEY: ROOT })

      const after = await host.request('GET', `/~${slug}/proof/2`)
      const backup = await tilde('backup', slug, '--to', join(folder, `backup-${slug}`))

      expect([fine.code, fine.out]).toEqual([0, expect.stringContaining('match their digests')])
      expect([before.status, after.status, after.body.error]).toEqual([200, 503, 'unavailable'])
      expect((await host.request('GET', `/~${slug}/proof/1`)).status).toBe(200)
      expect(backup.code).toBe(1)
      expect((await against()).code).toBe(1)
    },
  )
})

describe('a proof with values and without a salt', () => {
  let host: TestHost
  beforeAll(async () => {
    host = await testHost({ TILDE_BASE_URL: 'https://tilde.example' })
  })
  afterAll(() => host.stop())

  verifies('proof.inclusion', 'is refused by the command and by the Python verifier', async () => {
    await host.request('POST', '/~forged/Contact', { name: 'Ada' })
    const { body } = await host.request('GET', '/~forged/proof/1')
    const keys = await host.request('GET', '/.well-known/tilde-keys')
    const publicKeys = keys.body.keys.map(({ publicKey }: { publicKey: string }) => publicKey)
    const folder = mkdtempSync(join(tmpdir(), 'tildebase-forged-'))
    const judged = async (entry: object) => {
      const proof = { ...body, entry: { ...body.entry, ...entry } }
      writeFileSync(join(folder, 'proof.json'), JSON.stringify(proof))
      writeFileSync(join(folder, 'keys.json'), keys.text)
      const args = [VERIFIER, 'event', join(folder, 'proof.json'), join(folder, 'keys.json')]
      const python = spawnSync('python3', args, { encoding: 'utf8' }).status
      return [
        python,
        await checkEvent(proof, publicKeys).then(
          () => 0,
          () => 1,
        ),
      ]
    }

    expect(await judged({})).toEqual([0, 0])
    expect(await judged({ salt: null, data: null, previous: null, args: null })).toEqual([0, 0])
    expect(await judged({ salt: null })).toEqual([1, 1])
    expect(await judged({ salt: null, data: TAMPERED })).toEqual([1, 1])
    expect(await judged({ salt: null, data: null, args: '{}' })).toEqual([1, 1])
    expect(await judged({ data: TAMPERED })).toEqual([1, 1])
    rmSync(folder, { recursive: true })
  })
})
