import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { blobsOf, hashOf } from '../content/content.ts'
import { ask, KEY, type Server, startServer } from './server.ts'

export interface FilesReport {
  readonly rounds: number
  readonly uploads: number
  readonly pieces: number
  readonly links: number
  readonly erasures: number
  readonly backups: number
  readonly faults: readonly string[]
}

/** A folder with data is used for so many rounds; then everything in it is compared, and the next one begins. */
const ERA = 50
const WRITERS = 4
/** The compile cache lets each start take a quarter of the time. */
const SETTINGS = { TILDE_FILE_ORPHANS: '1s', NODE_COMPILE_CACHE: join(tmpdir(), 'tildebase-compiled') }
const FLAGS = ['--workers', '1']
const PATIENCE = 10_000
const TUS = { 'tus-resumable': '1.0.0' }
const PIECE = 40_000

interface Answer {
  readonly status: number
  readonly bytes: Uint8Array
  readonly headers: Headers
}

/** Sends bytes; null when the service was gone, also in the middle of an answer. */
async function send(
  url: string,
  method: string,
  path: string,
  bytes: Uint8Array | null = null,
  headers: Record<string, string> = {},
): Promise<Answer | null> {
  try {
    const answer = await fetch(path.startsWith('http') ? path : `${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/octet-stream', ...headers },
      ...(bytes && { body: bytes as BodyInit }),
    })
    return { status: answer.status, bytes: await answer.bytes(), headers: answer.headers }
  } catch {
    return null
  }
}

/** Uploads, links, erasures, backups and collections under kill -9: what is wrong afterwards. */
export async function killFiles(rounds: number, say: (text: string) => void = () => {}): Promise<FilesReport> {
  const counts = { uploads: 0, pieces: 0, links: 0, erasures: 0, backups: 0 }
  const faults: string[] = []
  for (let done = 0; done < rounds; done += ERA) {
    await era(Math.min(ERA, rounds - done), done, counts, faults)
    say(`${Math.min(done + ERA, rounds)} rounds, ${faults.length} faults ${JSON.stringify(counts)}`)
  }
  return { rounds, ...counts, faults }
}

type Counts = { -readonly [name in 'uploads' | 'pieces' | 'links' | 'erasures' | 'backups']: number }

async function era(rounds: number, first: number, counts: Counts, faults: string[]): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'tildebase-file-kill-'))
  let server = await startServer(data, SETTINGS, FLAGS)
  try {
    await ask(server.url, 'PUT', '/~acme/schema/Deal', { contract: 'file' })
    /** The content of each deal that was acknowledged last; null after an erasure. */
    const acknowledged = new Map<string, string | null>()
    /** Uploads in pieces that were not finished: their bytes, and how many of them were acknowledged. */
    const unfinished = new Map<string, { readonly bytes: Uint8Array; offset: number }>()
    const backup: { bytes: Uint8Array | null } = { bytes: null }
    for (let round = first; round < first + rounds; round++) {
      const { url } = server
      const state = { isOver: false }
      const here = { url, state, counts, faults, acknowledged, unfinished, backup }
      const work = [...Array.from({ length: WRITERS }, (_, n) => write(here, n)), read(here), save(here, round)]
      const before = counts.uploads
      for (let waited = 0; counts.uploads === before && waited < PATIENCE; waited += 10) await pause(10)
      await pause((round * 137) % 500)
      await server.kill()
      state.isOver = true
      await Promise.all(work)

      server = await startServer(data, SETTINGS, FLAGS)
      faults.push(...(await compareAcknowledged(server, acknowledged, unfinished)).map((text) => `${round}: ${text}`))
    }
    faults.push(...(await compareAll(server, data, backup.bytes)))
  } finally {
    await server.kill()
    rmSync(data, { recursive: true })
  }
}

interface Round {
  readonly url: string
  readonly state: { readonly isOver: boolean }
  readonly counts: Counts
  readonly faults: string[]
  readonly acknowledged: Map<string, string | null>
  readonly unfinished: Map<string, { readonly bytes: Uint8Array; offset: number }>
  readonly backup: { bytes: Uint8Array | null }
}

/** Creates deals, sends their contracts at once or in pieces, links and erases some, until the service is gone. */
async function write({ url, state, counts, faults, acknowledged, unfinished }: Round, n: number): Promise<void> {
  for (let turn = n; !state.isOver; turn++) {
    const id = (await ask(url, 'POST', '/~acme/Deal', { name: 'D' }))?.body.$id
    if (id === undefined) return
    const path = `/~acme/Deal/${id}/contract`
    const bytes = randomBytes(turn % 4 === 0 ? 700_000 : 10_000 + n)
    const hash = hashOf(bytes)
    if (turn % 3 === 2) {
      const sent = await inPieces(url, randomBytes(3 * PIECE), unfinished)
      if (sent === null) return
      counts.pieces += 1
      const named = await ask(url, 'PUT', `/~acme/Deal/${id}`, { contract: { hash: sent } })
      if (named?.status === 200) acknowledged.set(id, sent)
      continue
    }
    if ((await send(url, 'POST', path, bytes))?.status !== 200) continue
    acknowledged.set(id, hash)
    counts.uploads += 1
    // An orphan, for the collection.
    await send(url, 'POST', '/~acme/files', randomBytes(5_000))
    const link = await ask(url, 'POST', `${path}/link`, { expires: '10m' })
    const shown = link?.status === 200 ? await send(url, 'GET', link.body.url) : null
    if (shown?.status === 200 && hashOf(shown.bytes) !== hash) faults.push(`a link of ${id} shows other bytes`)
    if (shown) counts.links += 1
    if (turn % 4 !== 3) continue
    // Whether an erasure without an answer was done is not known.
    acknowledged.delete(id)
    const erased = await send(url, 'POST', `/~acme/Deal/${id}/erase`, null, { 'content-type': 'application/json' })
    if (erased?.status !== 200) continue
    acknowledged.set(id, null)
    counts.erasures += 1
  }
}

/** Sends bytes by tus; null when the service went in the middle. */
async function inPieces(url: string, bytes: Uint8Array, unfinished: Round['unfinished']): Promise<string | null> {
  const begun = await send(url, 'POST', '/~acme/uploads', null, { ...TUS, 'upload-length': `${bytes.length}` })
  const upload = begun?.headers.get('location')?.split('/').at(-1)
  if (begun?.status !== 201 || upload === undefined) return null
  const entry = { bytes, offset: 0 }
  unfinished.set(upload, entry)
  return continueUpload(url, upload, entry, unfinished)
}

async function continueUpload(
  url: string,
  upload: string,
  entry: { readonly bytes: Uint8Array; offset: number },
  unfinished: Round['unfinished'],
): Promise<string | null> {
  for (;;) {
    const { bytes, offset } = entry
    const headers = { ...TUS, 'content-type': 'application/offset+octet-stream', 'upload-offset': `${offset}` }
    const sent = await send(url, 'PATCH', `/~acme/uploads/${upload}`, bytes.subarray(offset, offset + PIECE), headers)
    if (sent?.status !== 204) return null
    entry.offset = Number(sent.headers.get('upload-offset'))
    if (entry.offset < bytes.length) continue
    unfinished.delete(upload)
    return sent.headers.get('upload-hash')
  }
}

/** Reads whatever is there while others write: an answer that is complete has the bytes of its ETag. */
async function read({ url, state, faults }: Round): Promise<void> {
  while (!state.isOver) {
    const list = await ask(url, 'GET', '/~acme/Deal?limit=10&sort=-$createdAt')
    if (list?.status !== 200) return
    for (const { $id, contract } of list.body.results) {
      const found = contract && (await send(url, 'GET', `/~acme/Deal/${$id}/contract`))
      if (found?.status !== 200) continue
      const etag = found.headers.get('etag')
      if (etag !== `"${hashOf(found.bytes)}"`) faults.push(`${$id} is read with bytes that are not those of its ETag`)
    }
  }
}

/** Saves the tenant while others write. A backup that is complete is kept. */
async function save({ url, counts, backup }: Round, round: number): Promise<void> {
  if (round % 3 !== 0) return
  const found = await send(url, 'GET', '/operator/tenants/acme/backup')
  if (found?.status !== 200) return
  backup.bytes = found.bytes
  counts.backups += 1
}

/** After a kill: what was acknowledged is there, and uploads continue from what was acknowledged. */
async function compareAcknowledged(
  { url }: Server,
  acknowledged: Round['acknowledged'],
  unfinished: Round['unfinished'],
): Promise<string[]> {
  const wrong: string[] = []
  for (const [id, hash] of acknowledged) {
    const found = await send(url, 'GET', `/~acme/Deal/${id}/contract`)
    if (hash === null && found?.status !== 404) wrong.push(`${id} is erased and answers ${found?.status}`)
    if (hash !== null && (found?.status !== 200 || hashOf(found.bytes) !== hash))
      wrong.push(`${id} lost its content: ${found?.status}`)
  }
  // What is read in full once need not be read in every round.
  for (const [id] of [...acknowledged].slice(0, -20)) acknowledged.delete(id)
  for (const [upload, entry] of unfinished) {
    unfinished.delete(upload)
    const state = await send(url, 'HEAD', `/~acme/uploads/${upload}`, null, TUS)
    // Unfinished uploads end after a second here.
    if (state === null || [404, 410].includes(state.status)) continue
    const offset = Number(state.headers.get('upload-offset'))
    if (offset < entry.offset) wrong.push(`upload ${upload} went back from ${entry.offset} to ${offset}`)
    const hash =
      state.headers.get('upload-hash') ?? (await continueUpload(url, upload, { ...entry, offset }, unfinished))
    unfinished.delete(upload)
    if (hash !== null && hash !== hashOf(entry.bytes)) wrong.push(`upload ${upload} ended with other bytes`)
  }
  return wrong
}

/** At the end: the chain is whole, the last backup restores with its content, and no byte is there that nothing names. */
async function compareAll({ url }: Server, data: string, backup: Uint8Array | null): Promise<string[]> {
  const wrong: string[] = []
  const check = async (tenant: string) => {
    const { ok, faults } = (await ask(url, 'GET', `/operator/tenants/${tenant}/verify`))!.body
    if (!ok) wrong.push(`${tenant} does not verify: ${JSON.stringify(faults)}`)
  }
  await check('acme')
  if (backup !== null) {
    const restored = await send(url, 'PUT', '/operator/tenants/restored/restore', backup)
    if (restored?.status !== 201) wrong.push(`the backup restores with ${restored?.status}`)
    else await check('restored')
  }
  const log = await send(url, 'GET', '/operator/tenants/acme/log')
  const text = new TextDecoder().decode(log!.bytes)
  const named = new Set(text.matchAll(/sha256:[0-9a-f]{64}/g).map(([hash]) => hash))
  const folder = join(data, 'files', 'ac', 'acme')
  const stored = () => new Set(blobsOf(data, 'acme').whole.map((key) => sum(join(folder, key))))
  // The collection runs with requests, and removes what nothing names.
  for (let tries = 0; tries < 120; tries++) {
    await ask(url, 'POST', '/~acme/Contact', { name: 'x' })
    await pause(250)
    const { whole, parts } = blobsOf(data, 'acme')
    if (whole.length <= named.size && parts.length === 0) break
  }
  const kept = stored()
  for (const hash of kept) if (!named.has(hash)) wrong.push(`${hash} is an orphan after the collection`)
  for (const hash of named) if (!kept.has(hash)) wrong.push(`${hash} is named and was removed`)
  const { whole, parts } = blobsOf(data, 'acme')
  if (whole.length !== kept.size) wrong.push(`${whole.length - kept.size} contents are stored twice`)
  for (const part of parts) wrong.push(`${part} is half a content`)
  return wrong
}

function sum(path: string): string {
  return `sha256:${createHash('sha256').update(readFileSync(path)).digest('hex')}`
}

if (import.meta.main) {
  const began = Date.now()
  const report = await killFiles(Number(process.argv[2] ?? 1_000), (text) => process.stdout.write(`${text}\n`))
  const seconds = Math.round((Date.now() - began) / 1_000)
  process.stdout.write(`${JSON.stringify({ ...report, seconds }, null, 2)}\n`)
  process.exitCode = report.faults.length === 0 ? 0 : 1
}
