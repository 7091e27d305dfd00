import { type JsonObject, Problem } from '@tildebase/nouns'
import { FORM, type Head, headAfter } from '@tildebase/server/log'
import type { Place } from '../place.ts'
import { tenantOf } from '../segments.ts'

/** The file with data that is not in events: hashes of keys and secrets of webhooks. */
export const SECRETS = 'secrets.ndjson'

/** The file with the last signed checkpoint. */
const CHECKPOINT = 'checkpoint.txt'

/** The backup of a tenant that grows with its log. */
export abstract class Archive {
  readonly place: Place
  /** Its newest event. */
  head: Head
  #secrets: string

  protected constructor(place: Place, head: Head, secrets: string) {
    this.place = place
    this.head = head
    this.#secrets = secrets
  }

  /** Adds an event, which must follow the newest one. An event that is already there must be the same. */
  abstract add(line: string, event: JsonObject): Promise<void>

  /** Makes the added events durable. */
  abstract save(): Promise<void>

  abstract close(): Promise<void>

  /** Keeps what is stored next to the events. */
  async saveSecrets(lines: readonly string[]): Promise<void> {
    const text = lines.map((line) => `${line}\n`).join('')
    if (text === this.#secrets) return
    await this.place.put(SECRETS, [Buffer.from(text)])
    this.#secrets = text
  }

  /** Keeps the signed checkpoint of the log, which the events can be checked against. */
  saveCheckpoint(note: string): Promise<void> {
    return this.place.put(CHECKPOINT, [Buffer.from(note)])
  }
}

/** The end of the log after an event; null when the event is there already. */
export function nextHead(head: Head, event: JsonObject, tenant: string, { name }: Place): Head | null {
  const { seq, hash } = head
  if (event.seq !== seq) return headAfter(head, event)
  if (event.hash === Buffer.from(hash).toString('hex')) return null
  throw new Problem(
    'conflict',
    `Event ${seq} of ${tenant} is not the one in ${name}: this is a different tenant of that name, or one that was ` +
      'restored to an earlier moment. Use a new folder.',
    { seq },
  )
}

/** Refuses a place with the backup of another tenant. */
export async function demandOwner(place: Place, tenant: string): Promise<void> {
  const owner = await tenantOf(place)
  if (owner === null || owner === tenant) return
  throw new Problem('conflict', `${place.name} holds a backup of ${owner}, not of ${tenant}. Use another folder.`)
}

/** The first line of a segment, which makes it the beginning of a portable log. */
export function openingOf(tenant: string, { seq, hash }: Head): string {
  const head = { tildebase: 'log', form: FORM, tenant, after: seq }
  return `${JSON.stringify({ ...head, hash: Buffer.from(hash).toString('hex') })}\n`
}
