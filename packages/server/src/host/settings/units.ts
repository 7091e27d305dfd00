import { SettingError } from './setting-error.ts'

const UNITS: { readonly [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** A time such as `30s`, in milliseconds. */
export function duration(name: string, text: string): number {
  const [, amount, unit] = /^\s*(\d+(?:\.\d+)?)(ms|s|m|h|d)\s*$/.exec(text) ?? []
  if (amount !== undefined) return Number(amount) * UNITS[unit!]!
  throw new SettingError(`${name} must be a time such as 500ms, 30s, 2m or 6h, not ${text}.`)
}

const SIZES: { readonly [unit: string]: number } = { '': 1, B: 1, KiB: 1_024, MiB: 1_048_576, GiB: 1_073_741_824 }

/** A size such as `10MiB`, in bytes. */
export function size(name: string, text: string): number {
  const [, amount, unit] = /^\s*(\d+)\s*(B|KiB|MiB|GiB|)\s*$/.exec(text) ?? []
  if (amount !== undefined) return Number(amount) * SIZES[unit!]!
  throw new SettingError(`${name} must be a size such as 512KiB, 10MiB or 1GiB, not ${text}.`)
}
