import { readFile } from 'node:fs/promises'
import { fromBase64, isConsistent, leafHash, nodeHash, Problem, sameBytes } from '@tildebase/nouns'
import { placeOf } from '../backup/open.ts'
import { eventsOf } from '../backup/segments.ts'
import type { Call } from '../command.ts'
import { operatorWire } from '../link/link.ts'
import type { Shown } from '../output/table.ts'
import { sha256 } from './crypto.ts'
import { knownKeys, type TrustedCheckpoint, trustedCheckpoint } from './trusted.ts'

/** The checkpoint in a file, signed by a key of another file or by one that the service publishes. */
async function savedCheckpoint({ flags, settings }: Call, file: string): Promise<TrustedCheckpoint> {
  const keys = await knownKeys(flags.text('keys'), settings.url)
  return trustedCheckpoint(await readFile(file, 'utf8'), keys, file)
}

/** Checks that the log of the service continues a saved checkpoint. */
export async function verifyService(call: Call, file: string): Promise<Shown> {
  const { $ } = call.link()
  const saved = await savedCheckpoint(call, file)
  const keys = await knownKeys(call.flags.text('keys'), call.settings.url)
  const now = await trustedCheckpoint((await $.proof.checkpoint()).note, keys, 'The checkpoint of the service')
  if (now.origin !== saved.origin)
    throw new Problem('damaged', `${file} is a checkpoint of ${saved.origin}, but the service signs as ${now.origin}.`)
  if (now.size < saved.size)
    throw new Problem('damaged', `The log has ${now.size} events, but had ${saved.size} when ${file} was signed.`)
  const { proof } = await $.proof.consistency(saved.size, now.size)
  const hashes = proof.map(fromBase64)
  if (hashes.includes(null) || !isConsistent(sha256, saved, now, hashes as Uint8Array[]))
    throw new Problem('damaged', `The first ${saved.size} events differ from ${file}: the history was rewritten.`)
  const values = await checkValues(call)
  return { origin: now.origin, ok: true, events: saved.size, since: now.size - saved.size, values, key: now.key }
}

/** Compares the values of all events with their digests, which only the operator reads; says whether it was possible. */
async function checkValues({ settings }: Call): Promise<string> {
  const slug = encodeURIComponent(settings.tenant ?? '')
  const { ok, faults } = await operatorWire(settings)
    .json(`/operator/tenants/${slug}/verify`)
    .catch((reason) => {
      if (reason instanceof Problem && ['unauthorized', 'forbidden'].includes(reason.code))
        return { ok: null, faults: [] }
      throw reason
    })
  if (ok === null) return 'not checked: that needs the operator key'
  if (ok === true) return 'match their digests'
  throw new Problem('damaged', `${slug} is damaged: ${(faults as { message: string }[])[0]?.message}`)
}

/** Checks that the events of a backup are those that a checkpoint signed. */
export async function verifyBackup(call: Call, folder: string, file: string): Promise<Shown> {
  const saved = await savedCheckpoint(call, file)
  const subtrees: { readonly level: number; readonly hash: Uint8Array }[] = []
  let events = 0
  for await (const { head } of eventsOf(await placeOf(folder))) {
    if (head.seq > saved.size) break
    events = head.seq
    let hash = leafHash(sha256, head.hash)
    let level = 0
    for (; subtrees.at(-1)?.level === level; level++) hash = nodeHash(sha256, subtrees.pop()!.hash, hash)
    subtrees.push({ level, hash })
  }
  if (events < saved.size)
    throw new Problem('damaged', `${folder} has ${events} events, and ${file} covers ${saved.size}.`)
  const root = subtrees.reduceRight<Uint8Array | null>(
    (right, { hash }) => (right === null ? hash : nodeHash(sha256, hash, right)),
    null,
  )
  if (!sameBytes(root ?? sha256(''), saved.root))
    throw new Problem('damaged', `The first ${saved.size} events of ${folder} differ from those that ${file} signed.`)
  return { origin: saved.origin, ok: true, events, key: saved.key }
}
