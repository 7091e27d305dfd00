import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Problem } from '@tildebase/nouns'
import { SUFFIXES } from '../sqlite/checks/wal-mark.ts'

/** How far a restore in slices has come; null is not known since a restart. */
export interface Progress {
  readonly events: number | null
  /** How many events there are to come in all, if the sender said so. */
  readonly of: number | null
}

/**
 * The slugs that a restore or a fork is about to fill, or whose tenant is being deleted. Nothing else creates a tenant there
 * meanwhile. A restore in slices outlives a restart: its file is in a folder of its own until the last slice has arrived.
 */
export class Restoring {
  readonly #folder: string
  /** The work in progress for a slug: settles with the last of it. */
  readonly #busy = new Map<string, Promise<unknown>>()
  /** Slugs with a slice that waits for the one before it. */
  readonly #waiting = new Set<string>()
  readonly #deleted = new Set<string>()
  /** Restores in slices that have not ended. */
  readonly #begun = new Map<string, Progress>()

  constructor(folder: string) {
    this.#folder = folder
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const names = readdirSync(folder).filter((name) => name.endsWith('.db'))
    for (const slug of names.map((name) => name.slice(0, -'.db'.length)))
      this.#begun.set(slug, { events: null, of: null })
  }

  /** Keeps a slug for this work until it has ended. */
  during<T>(slug: string, work: () => Promise<T>): Promise<T> {
    this.refuse(slug)
    return this.duringSlice(slug, work)
  }

  /** The same for a restore in slices, which may have begun before. */
  async duringSlice<T>(slug: string, work: () => Promise<T>): Promise<T> {
    if (this.#busy.has(slug)) throw this.#refusal(slug)
    return this.#keep(slug, work())
  }

  /** The same for the deletion of a tenant, or of a restore in slices. */
  async duringDeletion<T>(slug: string, work: () => Promise<T>): Promise<T> {
    return this.duringSlice(slug, async () => {
      this.#deleted.add(slug)
      try {
        return await work()
      } finally {
        this.#deleted.delete(slug)
      }
    })
  }

  /**
   * The same for a slice. One may arrive while the one before is worked on: `work` gets what settles with that, and waits
   * for it before it changes the new tenant.
   */
  async inTurn<T>(slug: string, work: (before: Promise<unknown>) => Promise<T>): Promise<T> {
    const before = this.#busy.get(slug)
    if (before === undefined) return this.#keep(slug, work(Promise.resolve()))
    if (this.#waiting.has(slug)) throw this.#refusal(slug)
    this.#waiting.add(slug)
    const turn = before.finally(() => this.#waiting.delete(slug))
    return this.#keep(slug, work(turn), turn)
  }

  /** Keeps a slug until the work and what came before it have ended. */
  async #keep<T>(slug: string, work: Promise<T>, before?: Promise<unknown>): Promise<T> {
    const all = Promise.allSettled([before, work])
    this.#busy.set(slug, all)
    try {
      return await work
    } finally {
      await before
      if (this.#busy.get(slug) === all) this.#busy.delete(slug)
    }
  }

  has(slug: string): boolean {
    return this.#busy.has(slug) || this.#begun.has(slug)
  }

  /** How far the restore of a slug has come, or null when it has not begun. */
  progressOf(slug: string): Progress | null {
    return this.#begun.get(slug) ?? null
  }

  /** The restores in slices that have not ended. */
  get slugs(): string[] {
    return [...this.#begun.keys()]
  }

  /** Where the slices of a restore come together. */
  pathOf(slug: string): string {
    return join(this.#folder, `${slug}.db`)
  }

  /** Writes down how far a restore has come. */
  advance(slug: string, progress: Progress): void {
    this.#begun.set(slug, progress)
  }

  /** Removes what has arrived, and gives the slug back. */
  giveUp(slug: string): void {
    for (const suffix of SUFFIXES) rmSync(`${this.pathOf(slug)}${suffix}`, { force: true })
    this.#begun.delete(slug)
  }

  /** Throws while the slug is kept. */
  refuse(slug: string): void {
    if (this.has(slug)) throw this.#refusal(slug)
  }

  #refusal(slug: string): Problem {
    const state = this.#deleted.has(slug) ? 'deleted' : 'restored'
    return new Problem('restoring', `The tenant ${slug} is being ${state}. Try again later.`, { retryAfter: 5 })
  }
}
