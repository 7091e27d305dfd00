import { Worker } from 'node:worker_threads'
import { Problem } from '@tildebase/nouns'
import type { IncomingMail } from '@tildebase/tenant/ports'
import { parseMail } from '../../../doors/mail/parse.ts'
import { systemSeal } from '../../../host/ports.ts'
import { problemFrom, type refusalOf } from '../flows.ts'

/** What the thread answers for a message. */
export type ParsedMail = { readonly mail: IncomingMail } | { readonly refusal: ReturnType<typeof refusalOf> }

/** A message this small takes no time, whatever it is made of. */
const SMALL = 16_384
/** How long one message may take. Of 25 MiB in base64 it takes some seconds. */
const TIMEOUT_MS = 30_000
/** How long a thread without a message is kept. */
const IDLE_MS = 5_000
/** How many messages of one tenant may wait. */
const MOST_WAITING = 8
const LIMITS = { maxYoungGenerationSizeMb: 16, maxOldGenerationSizeMb: 192 }

interface Job {
  readonly raw: Uint8Array
  readonly done: (mail: IncomingMail) => void
  readonly failed: (reason: unknown) => void
}

/**
 * Takes raw messages apart in a thread of its own: everyone can send one, and some are made to take long. One at a time, in
 * turns of the tenants.
 */
export class MailParser {
  readonly #waiting = new Map<string, Job[]>()
  #thread: Worker | null = null
  #idle: NodeJS.Timeout | null = null
  #isBusy = false

  async parse(raw: Uint8Array, owner: string): Promise<IncomingMail> {
    if (raw.length <= SMALL) return parseMail(raw, systemSeal.hasher('sha256'))
    const own = this.#waiting.get(owner) ?? []
    if (own.length >= MOST_WAITING)
      throw new Problem('busy', `${MOST_WAITING} messages are waiting to be read. Try again.`, { retryAfter: 5 })
    return new Promise((done, failed) => {
      this.#waiting.set(owner, [...own, { raw, done, failed }])
      void this.#next()
    })
  }

  async #next(): Promise<void> {
    const [owner, [job, ...rest] = []] = this.#waiting.entries().next().value ?? []
    if (this.#isBusy || owner === undefined || job === undefined) return
    this.#isBusy = true
    // Its next message comes after one of each other tenant.
    this.#waiting.delete(owner)
    if (rest.length > 0) this.#waiting.set(owner, rest)
    try {
      job.done(await this.#run(job.raw))
    } catch (reason) {
      job.failed(reason)
    } finally {
      this.#isBusy = false
      void this.#next()
    }
  }

  async #run(raw: Uint8Array): Promise<IncomingMail> {
    if (this.#idle) clearTimeout(this.#idle)
    this.#thread ??= new Worker(new URL(import.meta.resolve('#threads/mail')), {
      resourceLimits: LIMITS,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    const thread = this.#thread
    thread.ref()
    try {
      const answer = await answerOf(thread, raw)
      if ('refusal' in answer) throw problemFrom(answer.refusal)
      return answer.mail
    } catch (reason) {
      if (reason instanceof Problem) throw reason
      this.#end()
      throw new Problem('too_large', 'The message takes too long to read, or too much memory.')
    } finally {
      // A thread without a message does not keep the process.
      thread.unref()
      this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
    }
  }

  #end(): void {
    void this.#thread?.terminate()
    this.#thread = null
  }
}

function answerOf(thread: Worker, raw: Uint8Array): Promise<ParsedMail> {
  return new Promise((done, failed) => {
    const timer = setTimeout(() => failed(new Error('too long')), TIMEOUT_MS)
    const settle = (settled: () => void) => {
      clearTimeout(timer)
      thread.off('error', broken).off('exit', broken).off('message', hear)
      settled()
    }
    const broken = () => settle(() => failed(new Error('The thread for messages ended.')))
    const hear = (answer: ParsedMail) => settle(() => done(answer))
    thread.once('error', broken).once('exit', broken).once('message', hear)
    thread.postMessage(raw)
  })
}
