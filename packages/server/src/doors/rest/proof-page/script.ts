/**
 * The program of a proof page: it checks the proof that the page holds, in the browser and without a network. Plain
 * JavaScript as text, because it is sent as it is; it shares nothing with the code that made the proof.
 */
export const SCRIPT = String.raw`
const proof = JSON.parse(document.getElementById('proof').textContent)
const bytesOf = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))
const utf8 = (text) => new TextEncoder().encode(text)
const join = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]))
const same = (a, b) => a.length === b.length && a.every((byte, i) => byte === b[i])
const digest = async (name, ...parts) => new Uint8Array(await crypto.subtle.digest(name, join(...parts)))
const sha256 = (...parts) => digest('SHA-256', ...parts)
const node = (left, right) => sha256([1], left, right)

async function rootOf(leaf, index, size, path) {
  let at = index
  let last = size - 1
  let root = leaf
  for (const hash of path) {
    if (last === 0) return null
    if (at % 2 === 1 || at === last) {
      root = await node(hash, root)
      while (at % 2 === 0 && at !== 0) {
        at = Math.floor(at / 2)
        last = Math.floor(last / 2)
      }
    } else root = await node(root, hash)
    at = Math.floor(at / 2)
    last = Math.floor(last / 2)
  }
  return last === 0 ? root : null
}

// Ed25519 (RFC 8032) with whole numbers: not every browser has it built in.
const P = 2n ** 255n - 19n
const L = 2n ** 252n + 27742317777372353535851937790883648493n
const mod = (value) => ((value % P) + P) % P
function power(base, exponent) {
  let result = 1n
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = mod(b * b)) if (e & 1n) result = mod(result * b)
  return result
}
const inverse = (value) => power(value, P - 2n)
const D = mod(-121665n * inverse(121666n))
const ROOT = power(2n, (P - 1n) / 4n)
const number = (bytes) => bytes.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
function pointOf(bytes) {
  if (bytes.length !== 32) return null
  const text = number(bytes)
  const y = text & (2n ** 255n - 1n)
  if (y >= P) return null
  const square = mod((y * y - 1n) * inverse(D * y * y + 1n))
  let x = power(square, (P + 3n) / 8n)
  if (mod(x * x - square) !== 0n) x = mod(x * ROOT)
  if (mod(x * x - square) !== 0n) return null
  const sign = text >> 255n
  if (x === 0n && sign === 1n) return null
  if ((x & 1n) !== sign) x = P - x
  return [x, y, 1n, mod(x * y)]
}
function add([x1, y1, z1, t1], [x2, y2, z2, t2]) {
  const a = mod((y1 - x1) * (y2 - x2))
  const b = mod((y1 + x1) * (y2 + x2))
  const c = mod(2n * t1 * t2 * D)
  const d = mod(2n * z1 * z2)
  const [e, f, g, h] = [b - a, d - c, d + c, b + a]
  return [mod(e * f), mod(g * h), mod(f * g), mod(e * h)]
}
function multiply(point, factor) {
  let sum = [0n, 1n, 1n, 0n]
  for (let p = point, f = factor; f > 0n; f >>= 1n, p = add(p, p)) if (f & 1n) sum = add(sum, p)
  return sum
}
const equal = ([x1, y1, z1], [x2, y2, z2]) => mod(x1 * z2 - x2 * z1) === 0n && mod(y1 * z2 - y2 * z1) === 0n
const BASE = pointOf(Uint8Array.from([0x58, ...new Array(31).fill(0x66)]))
async function isSigned(key, message, signature) {
  const point = pointOf(key)
  const r = pointOf(signature.slice(0, 32))
  const s = number(signature.slice(32))
  if (point === null || r === null || signature.length !== 64 || s >= L) return false
  const k = number(await digest('SHA-512', signature.slice(0, 32), key, message)) % L
  return equal(multiply(BASE, s), add(r, multiply(point, k)))
}

function noteOf(text) {
  const end = text.lastIndexOf('\n\n') + 1
  const signatures = text.slice(end + 1, -1).split('\n').map((line) => {
    const [, name, value] = line.split(' ')
    return { name, bytes: bytesOf(value) }
  })
  const [origin, size, root] = text.split('\n')
  return { text: text.slice(0, end), signatures, origin, size: Number(size), root: bytesOf(root) }
}

async function lineOf(note, verifierKey) {
  const name = verifierKey.split('+')[0]
  const key = bytesOf(verifierKey.slice(name.length + 10))
  const id = (await sha256(utf8(name + '\n'), key)).slice(0, 4)
  const line = note.signatures.find((one) => one.name === name && same(one.bytes.slice(0, 4), id))
  return line && { key: key.slice(1), signature: line.bytes.slice(4) }
}

async function check() {
  const { entry } = proof
  const note = noteOf(proof.checkpoint)
  const results = []
  const hasNone = entry.data === null && entry.previous === null && entry.args === null
  const values = entry.salt === null
    ? hasNone ? null : false
    : same(await sha256(bytesOf(entry.salt), utf8([entry.data ?? '', entry.previous ?? '', ...(entry.args === null ? [] : [entry.args])].join('\n'))), bytesOf(entry.digest))
  results.push(['The values of the event are those that were sealed when it was written.', values])
  const leaf = await sha256(bytesOf(entry.before), utf8(entry.header), bytesOf(entry.digest))
  results.push(['Its time, its actor and its place after the event before it are unchanged.', same(leaf, bytesOf(proof.leaf))])
  const root = await rootOf(await sha256([0], leaf), proof.seq - 1, note.size, proof.proof.map(bytesOf))
  results.push(['It is event ' + proof.seq + ' of the ' + note.size + ' events in the checkpoint.', root !== null && same(root, note.root)])
  const own = await lineOf(note, proof.key)
  const isOwn = own !== undefined && proof.key.startsWith(note.origin + '+')
  results.push(['The service signed this checkpoint.', isOwn && (await isSigned(own.key, utf8(note.text), own.signature))])
  for (const witness of proof.witnesses) {
    const line = await lineOf(note, witness)
    if (line === undefined) continue
    const seconds = line.signature.slice(0, 8).reduce((sum, byte) => sum * 256 + byte, 0)
    const message = utf8('cosignature/v1\ntime ' + seconds + '\n' + note.text)
    const when = new Date(seconds * 1000).toISOString()
    results.push([
      'The witness ' + witness.split('+')[0] + ' saw this checkpoint at ' + when + ' and no other history before it.',
      await isSigned(line.key, message, line.signature.slice(8)),
    ])
  }
  return results
}

function show(results) {
  const list = document.getElementById('results')
  for (const [sentence, isTrue] of results) {
    const item = document.createElement('li')
    item.className = isTrue === null ? 'unknown' : isTrue ? 'yes' : 'no'
    item.textContent = isTrue === null ? 'The values are not part of this proof: they were erased, or its reader could not see all of them.' : sentence
    list.append(item)
  }
  const isWhole = results.every(([, isTrue]) => isTrue !== false)
  document.getElementById('verdict').textContent = isWhole ? 'This proof is valid.' : 'This proof is NOT valid.'
  document.body.className = isWhole ? 'valid' : 'invalid'
}

function describe() {
  const [seq, id, at, type, entity, verb, event, version, actor] = JSON.parse(proof.entry.header)
  const facts = { Event: type + '.' + event, Entity: entity, Version: version, Time: new Date(at).toISOString(), Actor: actor, Number: seq, Id: id, Verb: verb }
  for (const [name, value] of Object.entries(facts)) {
    const term = document.createElement('dt')
    const detail = document.createElement('dd')
    term.textContent = name
    detail.textContent = String(value)
    document.getElementById('facts').append(term, detail)
  }
  const data = proof.entry.data
  document.getElementById('data').textContent = data === null ? 'The values were erased.' : JSON.stringify(JSON.parse(data), null, 2)
  document.getElementById('checkpoint').textContent = proof.checkpoint
  document.getElementById('key').textContent = proof.key
}

describe()
check().then(show, (reason) => show([['The proof can be read (' + reason.message + ').', false]]))
`
