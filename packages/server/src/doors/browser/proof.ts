import type { EventProof } from '@tildebase/nouns'

/**
 * The program of a proof page: it checks the proof that the page holds, in the browser and without a network. It
 * imports types only, so it shares no code with the service that made the proof.
 */
type Proof = EventProof & { readonly checkpoint: string; readonly key: string }

interface Note {
  readonly text: string
  readonly signatures: readonly { readonly name: string; readonly bytes: Bytes }[]
  readonly origin: string
  readonly size: number
  readonly root: Bytes
}

type Bytes = Uint8Array<ArrayBuffer>
/** A statement, and whether it is true; null where that is not part of the proof. */
type Result = readonly [sentence: string, isTrue: boolean | null]

const byId = (id: string) => document.getElementById(id)!
const proof: Proof = JSON.parse(byId('proof').textContent!)
const texts: { readonly [english: string]: string } = JSON.parse(byId('texts').textContent!)
/** A text in the language of the page, with its values in their places. */
const say = (english: string, ...values: readonly (string | number)[]): string => {
  const parts = (texts[english] ?? english).split('{}')
  return parts.map((part, at) => `${at > 0 ? (values[at - 1] ?? '') : ''}${part}`).join('')
}
const bytesOf = (text: string): Bytes => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
const utf8 = (text: string): Bytes => new TextEncoder().encode(text)
const join = (parts: readonly Iterable<number>[]): Bytes => Uint8Array.from(parts.flatMap((part) => [...part]))
const same = (a: Bytes, b: Bytes) => a.length === b.length && a.every((byte, i) => byte === b[i])
const sha256 = async (...parts: readonly Iterable<number>[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', join(parts)))

/** The root of the tree that a path of hashes leads to (RFC 9162); null for a path of another length. */
async function rootOf(leaf: Bytes, index: number, size: number, path: readonly Bytes[]): Promise<Bytes | null> {
  let at = index
  let last = size - 1
  let root = leaf
  for (const hash of path) {
    if (last === 0) return null
    if (at % 2 === 1 || at === last) {
      root = await sha256([1], hash, root)
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2)
        last = Math.floor(last / 2)
      }
    } else root = await sha256([1], root, hash)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : null
}

async function isSigned(key: Bytes, message: Bytes, signature: Bytes): Promise<boolean> {
  const imported = await crypto.subtle.importKey('raw', key, 'Ed25519', false, ['verify'])
  return crypto.subtle.verify('Ed25519', imported, signature, message)
}

function noteOf(text: string): Note {
  const end = text.lastIndexOf('\n\n') + 1
  const lines = text.slice(end + 1, -1).split('\n')
  const signatures = lines.map((line) => {
    const [, name, value] = line.split(' ') as [string, string, string]
    return { name, bytes: bytesOf(value) }
  })
  const [origin, size, root] = text.split('\n') as [string, string, string]
  return { text: text.slice(0, end), signatures, origin, size: Number(size), root: bytesOf(root) }
}

/** The signature of a note by a key (C2SP signed-note); undefined when there is none. */
async function lineOf(note: Note, verifierKey: string): Promise<{ key: Bytes; signature: Bytes } | undefined> {
  const name = verifierKey.split('+')[0]!
  const key = bytesOf(verifierKey.slice(name.length + 10))
  const id = (await sha256(utf8(`${name}\n`), key)).slice(0, 4)
  const line = note.signatures.find((one) => one.name === name && same(one.bytes.slice(0, 4), id))
  return line && { key: key.slice(1), signature: line.bytes.slice(4) }
}

/** Whether the values are those that the digest was made of. Null after an erasure: an event without a salt has no values. */
async function areSealed({ salt, data, previous, args, digest }: Proof['entry']): Promise<boolean | null> {
  if (salt === null) return data === null && previous === null && args === null ? null : false
  const text = [data ?? '', previous ?? '', ...(args === null ? [] : [args])].join('\n')
  return same(await sha256(bytesOf(salt), utf8(text)), bytesOf(digest))
}

async function check(): Promise<Result[]> {
  const { entry, seq } = proof
  const note = noteOf(proof.checkpoint)
  const leaf = await sha256(bytesOf(entry.before), utf8(entry.header), bytesOf(entry.digest))
  const root = await rootOf(await sha256([0], leaf), seq - 1, note.size, proof.proof.map(bytesOf))
  const own = proof.key.startsWith(`${note.origin}+`) ? await lineOf(note, proof.key) : undefined
  const isOwn = own !== undefined && (await isSigned(own.key, utf8(note.text), own.signature))
  const results: Result[] = [
    [say('The values of the event are those that were sealed when it was written.'), await areSealed(entry)],
    [
      say('Its time, its actor and its place after the event before it are unchanged.'),
      same(leaf, bytesOf(proof.leaf)),
    ],
    [say('It is event {} of the {} events in the checkpoint.', seq, note.size), root !== null && same(root, note.root)],
    [say('The service signed this checkpoint.'), isOwn],
  ]
  for (const witness of proof.witnesses) {
    const line = await lineOf(note, witness)
    if (line === undefined) continue
    const seconds = line.signature.slice(0, 8).reduce((sum, byte) => sum * 256 + byte, 0)
    const message = utf8(`cosignature/v1\ntime ${seconds}\n${note.text}`)
    const when = new Date(seconds * 1000).toISOString()
    results.push([
      say('The witness {} saw this checkpoint at {} and no other history before it.', witness.split('+')[0]!, when),
      await isSigned(line.key, message, line.signature.slice(8)),
    ])
  }
  return results
}

const ERASED = 'The values are not part of this proof: they were erased, or its reader could not see all of them.'

function show(results: readonly Result[]): void {
  for (const [sentence, isTrue] of results) {
    const item = document.createElement('li')
    item.className = isTrue === null ? 'unknown' : isTrue ? 'yes' : 'no'
    item.textContent = isTrue === null ? say(ERASED) : sentence
    byId('results').append(item)
  }
  const isWhole = results.every(([, isTrue]) => isTrue !== false)
  byId('verdict').textContent = isWhole ? say('This proof is valid.') : say('This proof is NOT valid.')
  document.body.className = isWhole ? 'valid' : 'invalid'
}

/** A browser without Ed25519 knows nothing about the proof: it must not call it invalid. */
function fail(reason: Error): void {
  if (reason.name === 'NotSupportedError') {
    byId('verdict').textContent = say(
      'This browser cannot check Ed25519 signatures. Open the page in a current browser.',
    )
    document.body.className = 'unknown'
  } else show([[say('The proof can be read ({}).', reason.message), false]])
}

function describe(): void {
  const [seq, id, at, type, entity, verb, event, version, actor] = JSON.parse(proof.entry.header)
  const facts = {
    Event: `${type}.${event}`,
    Entity: entity,
    Version: version,
    Time: new Date(at).toISOString(),
    Actor: actor,
    Number: seq,
    Id: id,
    Verb: verb,
  }
  for (const [name, value] of Object.entries(facts)) {
    const term = document.createElement('dt')
    const detail = document.createElement('dd')
    term.textContent = say(name)
    detail.textContent = String(value)
    byId('facts').append(term, detail)
  }
  const { data } = proof.entry
  byId('data').textContent = data === null ? say('The values were erased.') : JSON.stringify(JSON.parse(data), null, 2)
  byId('checkpoint').textContent = proof.checkpoint
  byId('key').textContent = proof.key
}

describe()
check().then(show, fail)
