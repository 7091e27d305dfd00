import { createHash, createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fromBase64, toBase64 } from './base64.ts'
import { isConsistent, rootOfInclusion } from './check-proof.ts'
import { consistencyProof, inclusionProof, leafHash, nodeHash, treeRoot } from './merkle.ts'
import { checkpointText, noteText, parseCheckpoint, parseNote } from './note.ts'
import {
  cosignatureBytes,
  cosignedText,
  keyIdOf,
  parseVerifierKey,
  type VerifySignature,
  validSignatures,
  verifierKeyText,
} from './verifier-key.ts'

const sha256 = (...parts: (string | Uint8Array)[]): Uint8Array => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest()
}
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const bytes = (base64: string | null) => Buffer.from(base64 ?? '', 'base64')

/** The tree as RFC 9162 defines it, by recursion over the leaves. */
function definedRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return sha256('')
  if (leaves.length === 1) return leafHash(sha256, leaves[0]!)
  let half = 1
  while (half * 2 < leaves.length) half *= 2
  return nodeHash(sha256, definedRoot(leaves.slice(0, half)), definedRoot(leaves.slice(half)))
}

/** The complete subtrees over leaves. */
function nodesOf(leaves: readonly Uint8Array[]) {
  return (level: number, n: number): Uint8Array => definedRoot(leaves.slice(n * 2 ** level, (n + 1) * 2 ** level))
}

describe('the tree of RFC 6962 and RFC 9162', () => {
  const inputs = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f']
  const leaves = inputs.map((input) => Buffer.from(input, 'hex'))

  test.each([
    [0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    [1, '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
    [2, 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
    [3, 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
    [4, 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
    [5, '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
    [6, '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
    [7, 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
    [8, '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
  ])('over the first %i known leaves has the known root', (size, root) => {
    expect(hex(treeRoot(sha256, nodesOf(leaves), size))).toBe(root)
  })

  const vectors = JSON.parse(
    readFileSync(join(import.meta.dirname, '../../../../test/proof/tree-vectors.json'), 'utf8'),
  ) as {
    inclusion: [number, number, string, string, string[] | null, boolean][]
    consistency: [number, number, string, string, string[] | null, boolean][]
  }

  test('accepts and rejects the published inclusion proofs', () => {
    for (const [index, size, root, leaf, proof, isValid] of vectors.inclusion) {
      const found = rootOfInclusion(sha256, bytes(leaf), index, size, (proof ?? []).map(bytes))
      expect([index, size, proof, found !== null && hex(found) === hex(bytes(root))]).toEqual([
        index,
        size,
        proof,
        isValid,
      ])
    }
  })

  test('accepts and rejects the published consistency proofs', () => {
    // Some vectors have words in the place of roots.
    const rootOf = (base64: string) => (bytes(base64).length === 32 ? bytes(base64) : sha256(bytes(base64)))
    // Every tree continues the empty one (C2SP tlog-witness); the source of the vectors calls that an error.
    const cases = vectors.consistency.filter(([from]) => from > 0)
    expect(cases).toHaveLength(89)
    for (const [from, to, root1, root2, proof, isValid] of cases) {
      const old = { size: from, root: rootOf(root1) }
      const head = { size: to, root: rootOf(root2) }
      const found = isConsistent(sha256, old, head, (proof ?? []).map(bytes))
      expect([from, to, root1, root2, proof, found]).toEqual([from, to, root1, root2, proof, isValid])
    }
  })

  test('returns valid proofs of every leaf and of every earlier size', () => {
    const many = Array.from({ length: 40 }, (_, i) => Uint8Array.of(i))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 40 }), fc.nat(39), fc.nat(40), (size, someLeaf, someSize) => {
        const index = someLeaf % size
        const old = someSize % (size + 1)
        const nodes = nodesOf(many)
        const root = treeRoot(sha256, nodes, size)
        const leaf = leafHash(sha256, many[index]!)

        expect(hex(root)).toBe(hex(definedRoot(many.slice(0, size))))
        const inclusion = inclusionProof(sha256, nodes, index, size)
        expect(hex(rootOfInclusion(sha256, leaf, index, size, inclusion)!)).toBe(hex(root))
        const consistency = consistencyProof(sha256, nodes, old, size)
        const oldHead = { size: old, root: treeRoot(sha256, nodes, old) }
        expect(isConsistent(sha256, oldHead, { size, root }, consistency)).toBe(true)
        expect(isConsistent(sha256, { ...oldHead, root: sha256('x') }, { size, root }, consistency)).toBe(false)
      }),
    )
  })
})

describe('signed notes and checkpoints of C2SP', () => {
  const ed25519: VerifySignature = (publicKey, message, signature) => {
    const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), publicKey])
    return verify(null, Buffer.from(message), createPublicKey({ key: der, format: 'der', type: 'spki' }), signature)
  }
  const example = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'
  const note =
    'This is an example message.\n\n' +
    '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n'
  const sofa =
    'example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n' +
    '— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n' +
    '— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n'

  test('the example of the specification verifies with its key, and no other text does', async () => {
    const key = parseVerifierKey(sha256, example)!
    const parsed = parseNote(note)!

    expect(verifierKeyText(sha256, key)).toBe(example)
    expect(noteText(parsed)).toBe(note)
    expect(await validSignatures(sha256, ed25519, parsed, [key])).toHaveLength(1)
    expect(await validSignatures(sha256, ed25519, { ...parsed, text: 'Another.\n' }, [key])).toBeNull()
    expect(await validSignatures(sha256, ed25519, parsed, [{ ...key, name: 'example.com/bar' }])).toEqual([])
  })

  test('the checkpoint of the specification is read and written without a change', () => {
    const parsed = parseNote(sofa)!
    const checkpoint = parseCheckpoint(parsed.text)!

    expect(noteText(parsed)).toBe(sofa)
    expect(checkpoint).toMatchObject({ origin: 'example.com/behind-the-sofa', size: 20_852_163 })
    expect(checkpointText(checkpoint)).toBe(parsed.text)
    expect(parsed.signatures.map(({ name, keyId }) => [name, keyId])).toEqual([
      ['example.com/behind-the-sofa', '033de0ae'],
      ['witness.example.com/w1', '8d66cf3f'],
    ])
    expect(hex(parsed.signatures[1]!.signature.slice(0, 8))).toBe(
      hex(cosignatureBytes(1_679_315_147, new Uint8Array())),
    )
  })

  test('a cosignature signs the time and the whole text', () => {
    expect(cosignedText('o\n1\nx\n', 1_679_315_147)).toBe('cosignature/v1\ntime 1679315147\no\n1\nx\n')
    const key = { name: 'w', publicKey: new Uint8Array(32) }
    expect(keyIdOf(sha256, { ...key, use: 'note' })).not.toBe(keyIdOf(sha256, { ...key, use: 'cosignature' }))
  })

  test.each([
    ['no signature', 'o\n0\n\n'],
    ['no line break at the end', note.slice(0, -1)],
    ['a control character', note.replace('example message', 'example\tmessage')],
    ['a hyphen for the dash', note.replace('—', '-')],
    ['base64 with bits that no byte uses', note.replace('yaQM=', 'yaQN=')],
  ])('a note with %s is not valid', (_, text) => {
    expect(parseNote(text)).toBeNull()
  })

  const root = toBase64(new Uint8Array(32))
  test.each([
    ['a size with a leading zero', `o\n01\n${root}\n`],
    ['a size that is too large', `o\n9007199254740993\n${root}\n`],
    ['no origin', `\n1\n${root}\n`],
    ['a root of another length', 'o\n1\nAAAA\n'],
    ['an empty extension line', `o\n1\n${root}\n\nx\n`],
    ['no line break at the end', `o\n1\n${root}`],
  ])('a checkpoint with %s is not valid', (_, text) => {
    expect(parseCheckpoint(text)).toBeNull()
  })

  test('base64 survives a round trip', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (some) => {
        expect(hex(fromBase64(toBase64(some))!)).toBe(hex(some))
        expect(toBase64(some)).toBe(Buffer.from(some).toString('base64'))
      }),
    )
  })
})
