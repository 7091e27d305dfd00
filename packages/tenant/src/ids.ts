import type { Clock, Random } from './ports.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
const TIME_LENGTH = 8
const RANDOM_LENGTH = 14
/** Extra random bytes, because some are rejected: so one call is almost always enough. */
const SPARE = 4

/** A new id: the type's prefix, the time in sortable base62, then chance. Rows of one time lie side by side on disk. */
export function newId(prefix: string, clock: Clock, random: Random): string {
  const now = clock.now()
  if (now !== last.now) last = { now, text: base62(now, TIME_LENGTH) }
  return `${prefix}_${last.text}${randomText(random, RANDOM_LENGTH)}`
}

// Ids are mostly made many at once.
let last = { now: Number.NaN, text: '' }

/** Whether a string has the form of an id with this prefix. */
export function isId(text: unknown, prefix: string): text is string {
  return typeof text === 'string' && text.startsWith(`${prefix}_`) && /^[A-Za-z0-9]+_[A-Za-z0-9]{1,64}$/.test(text)
}

/** That many random base62 characters, each equally likely. */
export function randomText(random: Random, length: number): string {
  let text = ''
  while (text.length < length) {
    const bytes = random.bytes(length + SPARE)
    for (let i = 0; i < bytes.length && text.length < length; i++) {
      // 248 = 4 × 62: bytes above it would favour the first letters.
      if (bytes[i]! < 248) text += DIGITS[bytes[i]! % 62]
    }
  }
  return text
}

function base62(value: number, length: number): string {
  let text = ''
  for (let rest = value; text.length < length; rest = Math.floor(rest / 62)) text = DIGITS[rest % 62] + text
  return text
}
