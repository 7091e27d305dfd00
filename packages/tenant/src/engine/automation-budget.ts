import type { Sql } from '../ports.ts'
import { getMeta, setMeta } from '../store/meta.ts'
import { quotaWarning } from './quota.ts'

const MINUTE = 60_000
/** How long automatic writes wait before they look again whether a tenant without room has room. */
const NO_ROOM = MINUTE
/** The key in `meta` of the time at which a budget that was used up has something again. */
const RESUMES = 'automation.resumes'

/** What the operator decides about a tenant's own writes. */
export interface AutomationLimits {
  /** Events per minute; absent means no limit. */
  readonly automationRate?: number
  /** The most bytes of the tenant; absent means no limit. */
  readonly mostBytes?: number
}

/**
 * The events that timers, workflows and hooks may write. It fills evenly, up to those of a minute. Work begins while
 * something is left and is then done whole, so the budget can become negative: the next work waits longer.
 */
export class AutomationBudget {
  readonly #sql: Sql
  readonly #perMinute: number | null
  readonly #mostBytes: number | null
  #left: number
  #at: number

  constructor(sql: Sql, { automationRate, mostBytes }: AutomationLimits, now: number) {
    this.#sql = sql
    this.#perMinute = automationRate ?? null
    this.#mostBytes = mostBytes ?? null
    this.#at = now
    this.#left = this.#perMinute ?? 0
    const resumes = Number(this.#perMinute === null ? 0 : (getMeta(sql, RESUMES) ?? 0))
    if (resumes > now) this.#left = 1 - (resumes - now) * this.#perMs
  }

  /** When automatic work may begin: at 0 if it may now, else at a later time. */
  resumesAt(now: number): number {
    if (this.#mostBytes !== null && quotaWarning(this.#sql.bytes?.() ?? 0, this.#mostBytes) === 'over_quota')
      return now + NO_ROOM
    if (this.#perMinute === null) return 0
    this.#fill(now)
    // Rounding may leave a time that is already over.
    const resumes = this.#left >= 1 ? 0 : this.#resumes()
    return resumes > now ? resumes : 0
  }

  /** When work that is due at a time may begin; null stays null. */
  notBefore(due: number | null, now: number): number | null {
    return due === null ? null : Math.max(due, this.resumesAt(now))
  }

  /** Counts an automatic event in its transaction. Returns how to take that back. */
  spend(now: number): () => void {
    if (this.#perMinute === null) return () => {}
    this.#fill(now)
    this.#left--
    // Only a budget that is used up must outlive the memory of the tenant.
    if (this.#left < 1) setMeta(this.#sql, RESUMES, String(this.#resumes()))
    return () => void this.#left++
  }

  /** Continues with what another one of the same tenant has left: a task counts its events over a connection of its own. */
  continueFrom(other: AutomationBudget): void {
    this.#left = other.#left
    this.#at = other.#at
  }

  /** The limit, what is left of it, and until when automatic writes wait; null without a limit. */
  state(now: number): { readonly perMinute: number; readonly left: number; readonly resumesAt: number | null } | null {
    if (this.#perMinute === null) return null
    const resumesAt = this.resumesAt(now)
    return {
      perMinute: this.#perMinute,
      left: Math.max(0, Math.floor(this.#left)),
      resumesAt: resumesAt === 0 ? null : resumesAt,
    }
  }

  get #perMs(): number {
    return (this.#perMinute ?? 0) / MINUTE
  }

  #fill(now: number): void {
    if (now <= this.#at) return
    this.#left = Math.min(this.#perMinute ?? 0, this.#left + (now - this.#at) * this.#perMs)
    this.#at = now
  }

  #resumes(): number {
    return Math.ceil(this.#at + (1 - this.#left) / this.#perMs)
  }
}
