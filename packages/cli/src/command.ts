import type { Given } from './given.ts'
import type { Link } from './link.ts'
import type { Output } from './output.ts'
import type { Settings } from './settings.ts'

/** A flag: what it takes, and what it is for. */
export interface Flag {
  readonly type: 'string' | 'boolean'
  /** One letter that means the same. */
  readonly short?: string
  /** True for a flag that may be given several times. */
  readonly multiple?: boolean
  readonly help: string
}

export type Flags = { readonly [name: string]: Flag }

/** A command of `tilde`. */
export interface Command {
  /** What follows `tilde`: `keys list`. */
  readonly usage: string
  readonly summary: string
  readonly examples: readonly string[]
  readonly flags: Flags
  /** Names of flags that are right without being listed: `organization.name`. */
  readonly accepts?: (flag: string) => boolean
  run(call: Call): Promise<void>
}

/** One call of a command. */
export interface Call {
  /** The words after the command that belong to no flag. */
  readonly words: readonly string[]
  readonly flags: Given
  readonly settings: Settings
  readonly out: Output
  /** The tenant at the other end. */
  readonly link: () => Link
}
