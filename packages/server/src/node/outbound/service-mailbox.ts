import { log } from '../log.ts'
import type { MailDirectory } from './mail-addresses.ts'
import { operatorsServer } from './mail-server.ts'
import { readMailbox } from './mailbox.ts'

interface ServiceMailboxOptions {
  readonly url: string
  readonly interval: number
  readonly insecure: boolean
  readonly directory: MailDirectory
  /** Gives a message to a tenant. Returns the status of its answer. */
  readonly deliver: (slug: string, source: Uint8Array) => Promise<number>
}

/** Header fields that name recipients; the server that received a message writes the last three. */
const RECIPIENTS = /^(?:to|cc|resent-to|resent-cc|delivered-to|x-original-to|envelope-to)$/i
/** From the first letter of a word on: a long word without an `@` is read once. */
const ADDRESS = /(?<![^\s<>,;:"()[\]])[^\s<>,;:"()[\]]+@[^\s<>,;:"()[\]]+/g
const MOST_HEADER = 262_144
/** The tenant has no room. That may last, and the messages of others are not to wait for it. */
const NO_ROOM = 507

/** Reads the mailbox of the service, and gives each message to the tenants whose inbox has the address of a recipient. */
export class ServiceMailbox {
  readonly #options: ServiceMailboxOptions
  readonly #name: string
  #timer: NodeJS.Timeout | null = null
  #isStopped = false
  #visit: Promise<void> = Promise.resolve()

  constructor(options: ServiceMailboxOptions) {
    this.#options = options
    const { username, host } = new URL(options.url)
    this.#name = `${username}@${host}`
  }

  start(): void {
    if (this.#isStopped) return
    this.#visit = this.#read().catch((reason: Error) => {
      log('error', 'The mailbox of the service could not be read', { reason: reason.message.slice(0, 200) })
    })
    void this.#visit.then(() => {
      if (!this.#isStopped) this.#timer = setTimeout(() => this.start(), this.#options.interval).unref()
    })
  }

  /** Ends after the message in progress. */
  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer) clearTimeout(this.#timer)
    await this.#visit
  }

  /** The place moves on after a message was taken: one that was taken before is known by its Message-ID. */
  async #read(): Promise<void> {
    const { url, insecure, directory } = this.#options
    const after = await directory.placeIn(this.#name)
    if (after === undefined) return
    for await (const { source, place } of readMailbox(operatorsServer(url), after, insecure)) {
      if (this.#isStopped) return
      if (source !== null && !(await this.#pass(source))) return
      if (!(await directory.setPlace(this.#name, place))) return
    }
  }

  /** False when a tenant cannot take it now. */
  async #pass(source: Uint8Array): Promise<boolean> {
    const fields = headerOf(source)
    if (fields.some(isLetter)) return true
    for (const slug of await this.#options.directory.tenantsOf(recipientsOf(fields))) {
      const status = await this.#options.deliver(slug, source)
      if (status === 429 || (status >= 500 && status !== NO_ROOM)) return false
      if (status >= 400) log('error', `A message could not be given to ${slug}`, { status })
    }
    return true
  }
}

/** The fields of the header of a message, each on one line. */
function headerOf(source: Uint8Array): readonly string[] {
  const text = Buffer.from(source.buffer, source.byteOffset, Math.min(source.length, MOST_HEADER)).toString('latin1')
  const [header = ''] = text.split(/\r?\n\r?\n/, 1)
  return header.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)
}

/** Whether a field names what the service writes to people. It may have a link that opens an account, and is for no tenant. */
function isLetter(field: string): boolean {
  return /^message-id:\s*<(?:letter|notice)_\w+\./i.test(field)
}

/** The addresses of recipients in a header, in lower case. */
export function recipientsOf(fields: readonly string[]): string[] {
  const found = fields.flatMap((field) => {
    const colon = field.indexOf(':')
    return RECIPIENTS.test(field.slice(0, colon).trim()) ? (field.slice(colon + 1).match(ADDRESS) ?? []) : []
  })
  return [...new Set(found.map((one) => one.toLowerCase()))]
}
