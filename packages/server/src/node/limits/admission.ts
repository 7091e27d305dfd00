import { setTimeout } from 'node:timers/promises'
import { Problem } from '@tildebase/nouns'
import { BoundedMap } from '@tildebase/nouns/bounded-map'
import { unauthorized } from '../../doors/app.ts'
import type { Tenants } from '../../doors/gateway.ts'
import { isLasting, type MaybePromise } from '../../doors/http.ts'
import type { Admission } from '../../doors/limits/admission.ts'
import { TokenBuckets } from '../../doors/limits/token-buckets.ts'
import type { TenantCall } from '../../doors/tenant-call.ts'
import type { Restoring } from '../tenants/restoring.ts'
import type { Refusals } from '../watch/refusals.ts'
import { AddressRates, BoundedCounts } from './addresses.ts'

interface AdmissionOptions {
  readonly tenants: Pick<Tenants, 'verify'>
  readonly exists: (tenant: string) => boolean
  readonly restoring: Restoring
  readonly bounds: RequestBounds
  /** Sign-ups per hour and address; 0 turns the limit off. */
  readonly signupLimit: number
  readonly refusals: Refusals
}

/** Takes all limits of this host, once for each request. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { tenants, exists, restoring, bounds, signupLimit, refusals } = options
  const now = () => performance.now()
  const verify = tenants.verify.bind(tenants)
  const keys = new KeyVerdicts({ exists, verify, refusals, now, wait: (ms) => setTimeout(ms) })
  const counts = new RequestCounts(bounds, refusals)
  const rates = new AddressRates(signupLimit, refusals, now)
  const refusedKeyless = () => refusals.count('no_key')
  // A sender without a key learns nothing about a tenant that is being restored.
  const demand = (isAdmitted: boolean) => {
    if (isAdmitted) return
    refusedKeyless()
    throw unauthorized()
  }
  return {
    admitKey(tenant, secret, address) {
      restoring.refuse(tenant)
      return keys.admit(tenant, secret, address)
    },
    admitOperator: (tenant) => restoring.refuse(tenant),
    admitOpen(tenant, address) {
      rates.admitOpen(address)
      demand(exists(tenant) && !restoring.has(tenant))
    },
    admitSignup(tenant, address) {
      rates.admitSignup(address)
      demand(!exists(tenant) && !restoring.has(tenant))
    },
    enter: counts.enter.bind(counts),
    refusedKeyless,
    refusedKey: (_, secret) => keys.doubt(secret),
    wrote: keys.forgetInvalid.bind(keys),
  }
}

interface KeyVerdictsOptions {
  /** Whether there is a tenant of this name. */
  readonly exists: (tenant: string) => boolean
  /** Asks the tenant whether it knows a key. */
  readonly verify: (tenant: string, secret: string) => Promise<boolean>
  readonly refusals: Refusals
  readonly now: () => number
  /** Settles after so many milliseconds. */
  readonly wait: (ms: number) => Promise<void>
}

const MOST_VALID = 20_000
const VALID_MS = 600_000
/** The tenants whose unknown keys are remembered, and how many of each. */
const MOST_TENANTS = 500
const MOST_INVALID = 50
const INVALID_MS = 5_000
/** A refusal comes this long after the request, in milliseconds: its time does not tell whether there is such a tenant. */
const REFUSED_AFTER = 25
/** How many unknown keys of one address are looked up in a minute. */
const GUESSES = 200
const MINUTE = 60_000

/**
 * Remembers which keys are worth passing on, so that a tenant is asked once per key and not with each request.
 * The tenant still checks every request: a key that was revoked is refused there, and then here.
 */
export class KeyVerdicts {
  readonly #options: KeyVerdictsOptions
  /** Until when a key counts as valid. */
  readonly #valid = new BoundedMap<string, number>(MOST_VALID)
  /** Until when a key of a tenant counts as unknown. */
  readonly #invalid = new BoundedMap<string, BoundedMap<string, number>>(MOST_TENANTS)
  readonly #lookups = new Map<string, Promise<boolean>>()
  readonly #guesses: TokenBuckets

  constructor(options: KeyVerdictsOptions) {
    this.#options = options
    this.#guesses = new TokenBuckets(GUESSES, MINUTE, options.now)
  }

  /** Refuses a key that the tenant does not know. */
  admit(tenant: string, secret: string, address: string): MaybePromise<void> {
    const now = this.#options.now()
    if ((this.#valid.get(secret) ?? 0) > now) return
    return this.#ask(tenant, secret, address, now)
  }

  async #ask(tenant: string, secret: string, address: string, begun: number): Promise<void> {
    const isRemembered = (this.#invalid.get(tenant)?.get(secret) ?? 0) > begun
    if (!isRemembered && (await this.#lookUp(tenant, secret, address))) return
    await this.#options.wait(Math.max(0, begun + REFUSED_AFTER - this.#options.now()))
    throw this.#unknown()
  }

  /** The tenant refused a request with this key. The key may be valid elsewhere, so the tenant is asked about it again. */
  doubt(secret: string): void {
    this.#valid.delete(secret)
  }

  /** Forgets which keys the tenant does not know: it may know them now. */
  forgetInvalid(tenant: string): void {
    this.#invalid.delete(tenant)
  }

  /** Asks the tenant, once for all requests that wait for the same answer. */
  async #lookUp(tenant: string, secret: string, address: string): Promise<boolean> {
    const known = this.#lookups.get(secret)
    if (known) return known
    const left = this.#guesses.take(address)
    if (left < 0) throw this.#tooManyGuesses(-left)
    const { exists, verify } = this.#options
    // A guess at a tenant that does not exist counts and is remembered as one at any other.
    const asked = exists(tenant) ? verify(tenant, secret) : Promise.resolve(false)
    this.#lookups.set(secret, asked)
    const isValid = await asked.finally(() => this.#lookups.delete(secret))
    if (isValid) {
      this.#guesses.giveBack(address)
      this.#valid.set(secret, this.#options.now() + VALID_MS)
    } else this.#rememberInvalid(tenant, secret)
    return isValid
  }

  #rememberInvalid(tenant: string, secret: string): void {
    const secrets = this.#invalid.get(tenant) ?? new BoundedMap<string, number>(MOST_INVALID)
    this.#invalid.set(tenant, secrets.set(secret, this.#options.now() + INVALID_MS))
  }

  #unknown(): Problem {
    this.#options.refusals.count('unknown_key')
    return unauthorized()
  }

  #tooManyGuesses(missing: number): Problem {
    this.#options.refusals.count('key_guesses')
    const retryAfter = Math.max(1, Math.ceil(this.#guesses.secondsTo(missing)))
    return new Problem('rate_limited', 'Your address sent too many keys that are not valid. Try again later.', {
      limit: GUESSES,
      retryAfter,
    })
  }
}

/** How many requests may be in progress at once; polls and live streams are counted apart. */
interface RequestBounds {
  readonly tenantRequests: number
  readonly keyRequests: number
  readonly tenantPolls: number
  readonly keyPolls: number
}

interface Bound {
  readonly kind: string
  readonly tenants: BoundedCounts
  readonly keys: BoundedCounts
  readonly perTenant: number
  readonly perKey: number
}

/** Bounds the requests that are in progress, for each tenant and for each of its keys. */
class RequestCounts {
  readonly #refusals: Refusals
  readonly #requests: Bound
  readonly #polls: Bound

  constructor(bounds: RequestBounds, refusals: Refusals) {
    this.#refusals = refusals
    this.#requests = boundOf('requests', bounds.tenantRequests, bounds.keyRequests)
    this.#polls = boundOf('polls and streams', bounds.tenantPolls, bounds.keyPolls)
  }

  /** Counts a request until the function that it returns is called. */
  enter({ slug, request, target, sender }: TenantCall): () => void {
    const { kind, tenants, keys, perTenant, perKey } = isLasting(request, target.segments)
      ? this.#polls
      : this.#requests
    // The operator acts for all tenants: its requests count for the tenant only, not for the key.
    const key = sender.kind === 'secret' || sender.kind === 'session' ? sender.secret : null
    const ofKey = key === null ? null : keys.take(key)
    if (key !== null && ofKey === null) {
      this.#refusals.count('key_requests')
      const message = `This key has ${perKey} open ${kind}, which is the limit.`
      throw new Problem('rate_limited', message, { limit: perKey, retryAfter: 1 })
    }
    const ofTenant = tenants.take(slug)
    if (ofTenant !== null) {
      return () => {
        ofTenant.value--
        if (ofKey !== null) ofKey.value--
      }
    }
    if (ofKey !== null) ofKey.value--
    this.#refusals.count('tenant_requests')
    const message = `This tenant has ${perTenant} open ${kind}, which is the limit. Try again in a moment.`
    throw new Problem('busy', message, { limit: perTenant, retryAfter: 1 })
  }
}

function boundOf(kind: string, perTenant: number, perKey: number): Bound {
  return { kind, tenants: new BoundedCounts(perTenant), keys: new BoundedCounts(perKey), perTenant, perKey }
}
