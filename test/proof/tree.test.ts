import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { inclusionProof, leafHash, nodeHash, rootOfInclusion, toBase64, treeRoot } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { createSigner } from '../../packages/server/src/host/proof/signer.ts'
import { extendTree, Tree } from '../../packages/tenant/src/services/proof/tree.ts'
import { rewind } from '../../packages/tenant/src/store/log/rewind.ts'
import { applyVerb } from '../../packages/tenant/src/write/verb.ts'
import { openAcme, type TestTenant } from '../tenant/fixture.ts'
import { verifies } from '../verifies.ts'
import { sha256 } from './crypto.ts'

const folder = mkdtempSync(join(tmpdir(), 'tildebase-tree-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** Writes so many events in one commit. */
function write(tenant: TestTenant, count: number): void {
  tenant.write(OPERATOR, (one) => {
    for (let i = 0; i < count; i++)
      applyVerb(one, { type: 'Event', verb: 'create', data: { name: `n${i}`, type: 'track' } })
  })
}

function extendAll(tenant: TestTenant): void {
  while (!extendTree(tenant.engine));
}

/** The root by the definition of RFC 9162: over the hashes in the log, by recursion. */
function definedRoot(tenant: TestTenant): string {
  const over = (leaves: readonly Uint8Array[]): Uint8Array => {
    if (leaves.length === 0) return sha256('')
    if (leaves.length === 1) return leafHash(sha256, leaves[0]!)
    let half = 1
    while (half * 2 < leaves.length) half *= 2
    return nodeHash(sha256, over(leaves.slice(0, half)), over(leaves.slice(half)))
  }
  return toBase64(over(tenant.sql.rows('SELECT hash FROM events ORDER BY seq').map(([hash]) => hash)))
}

function rootOf({ engine }: TestTenant): string {
  return toBase64(new Tree(engine, engine.head.seq).root())
}

describe('the tree over the log', () => {
  verifies('proof.tree', 'is that of the definition, in whatever steps it was made', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 70 }), fc.boolean()), { maxLength: 6 }), (steps) => {
        const { tenant, close } = openAcme()
        for (const [count, isExtended] of steps) {
          write(tenant, count)
          if (isExtended) extendTree(tenant.engine)
        }

        expect(rootOf(tenant)).toBe(definedRoot(tenant))
        expect(tenant.facade.admin.verify()).toMatchObject({ ok: true })
        close()
      }),
      { numRuns: 30 },
    )
  })

  test('is cut with the log that a fork is made of, and continues from there', () => {
    const { tenant, close } = openAcme()
    write(tenant, 100)
    extendAll(tenant)
    rewind(tenant.sql, 37)
    const [[seq, at, hash]] = tenant.sql.rows('SELECT seq, at, hash FROM events ORDER BY seq DESC LIMIT 1') as any
    tenant.engine.head = { seq, at, happenedAt: at, hash }

    expect(rootOf(tenant)).toBe(definedRoot(tenant))
    write(tenant, 50)
    expect(rootOf(tenant)).toBe(definedRoot(tenant))
    close()
  })

  test('is made for a file of an earlier layout', () => {
    const path = join(folder, 'layout-1.db')
    writeFileSync(path, gunzipSync(readFileSync(join(import.meta.dirname, '../tenant/layouts/layout-1.db.gz'))))
    const { tenant, close } = openAcme({}, path)

    write(tenant, 40)

    expect(rootOf(tenant)).toBe(definedRoot(tenant))
    close()
  })

  test.each([
    ['another node', 'UPDATE tree SET hash = zeroblob(32) WHERE level = 4 AND n = 1', 32],
    ['another node higher up', 'UPDATE tree SET hash = zeroblob(32) WHERE level = 5 AND n = 0', 32],
    ['a missing node', 'DELETE FROM tree WHERE level = 5 AND n = 1', 64],
    ['a node of no events', 'INSERT INTO tree VALUES (9, 0, zeroblob(32))', 1],
  ])('is checked by verify, which finds %s', (_, tampering, seq) => {
    const { tenant, close } = openAcme()
    write(tenant, 70)
    extendAll(tenant)
    expect(tenant.facade.admin.verify()).toMatchObject({ ok: true })

    tenant.sql.run(tampering)

    const message = 'The hash tree does not match the log.'
    expect(tenant.facade.admin.verify()).toMatchObject({ ok: false, faults: [{ seq, message }] })
    close()
  })

  verifies('proof.size', 'has proofs of less than 2 kB over ten million events', () => {
    // A tree of equal leaves: one hash per level represents all nodes of it.
    const levels = [leafHash(sha256, sha256('event'))]
    for (let level = 1; level < 30; level++) levels.push(nodeHash(sha256, levels[level - 1]!, levels[level - 1]!))
    const nodeAt = (level: number) => levels[level]!
    const size = 10_000_000
    const root = treeRoot(sha256, nodeAt, size)

    for (const index of [0, 1, 4_194_303, 7_654_321, size - 2, size - 1]) {
      const proof = inclusionProof(sha256, nodeAt, index, size)
      const answer = {
        event: `event_${'0'.repeat(22)}`,
        seq: index + 1,
        size,
        leaf: toBase64(root),
        proof: proof.map(toBase64),
        checkpoint: `tildebase.example.com/~acme\n${size}\n${toBase64(root)}\n\n— tildebase.example.com/~acme ${'A'.repeat(92)}\n`,
      }
      expect(toBase64(rootOfInclusion(sha256, levels[0]!, index, size, proof)!)).toBe(toBase64(root))
      expect(JSON.stringify(answer).length).toBeLessThan(2_048)
    }
  })
})

describe('a crash', () => {
  verifies('proof.crash', 'at any statement leaves a tree that is the beginning of that of the log', () => {
    const path = join(folder, 'crash.db')
    const { tenant, close } = openAcme({}, path)
    const { sql } = tenant
    const run = sql.run.bind(sql)
    let copies = 0
    // Before each statement the files are as a crash would leave them.
    sql.run = (text, ...values) => {
      for (const suffix of ['', '-wal'])
        if (existsSync(path + suffix)) copyFileSync(path + suffix, `${path}.${copies}${suffix}`)
      copies++
      run(text, ...values)
    }

    for (const count of [5, 60, 1]) {
      write(tenant, count)
      extendAll(tenant)
    }
    sql.run = run

    expect(copies).toBeGreaterThan(60)
    const sizes = new Set<number>()
    for (let i = 0; i < copies; i++) {
      const left = openAcme({}, `${path}.${i}`)
      expect(left.tenant.facade.admin.verify()).toMatchObject({ ok: true })
      expect(rootOf(left.tenant)).toBe(definedRoot(left.tenant))
      sizes.add(left.tenant.head.seq)
      left.close()
    }
    expect([...sizes]).toEqual([0, 5, 65])
    close()
  })
})

describe('a service that signs', () => {
  const seed = new Uint8Array(32).fill(7)

  test('signs nothing that contradicts what it signed before', async () => {
    const { tenant, close } = openAcme()
    tenant.equip({ signer: createSigner(() => seed) })
    write(tenant, 20)
    const { size } = await tenant.facade.prove(OPERATOR).checkpoint()
    for (const trigger of ['log_unchanged', 'log_kept']) tenant.sql.run(`DROP TRIGGER ${trigger}`)

    tenant.sql.run('UPDATE log SET hash = zeroblob(32) WHERE seq = 20')

    expect(size).toBe(20)
    await expect(tenant.facade.prove(OPERATOR).checkpoint()).rejects.toMatchObject({ code: 'unavailable' })
    const message = 'The log does not match the checkpoint of size 20.'
    expect(tenant.facade.admin.verify().faults).toContainEqual({ seq: null, message })
    close()
  })

  test('without a key says what to set', async () => {
    const { tenant, close } = openAcme()

    await expect(tenant.facade.prove(OPERATOR).checkpoint()).rejects.toMatchObject({
      code: 'not_supported',
      message: expect.stringContaining('TILDE_SIGNING_KEY'),
    })
    close()
  })
})

describe('the tree and writes', () => {
  test('waits for a pause, and is then complete without a question', async () => {
    const { tenant, clock, close } = openAcme()
    const stored = () => tenant.sql.rows('SELECT count(*) FROM tree WHERE level = 4')[0]![0]
    write(tenant, 5_000)
    const atOnce = stored()

    for (let i = 0; i < 20; i++) {
      clock.at += 1_000
      await tenant.wake()
    }

    expect([atOnce, stored()]).toEqual([0, Math.floor(5_000 / 16)])
    close()
  })
})
