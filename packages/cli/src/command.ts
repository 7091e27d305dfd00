import type { Given } from './given.ts'
import type { Link } from './link.ts'
import type { Output } from './output.ts'
import type { Settings } from './settings.ts'

/** A flag: what it takes, and what it is for. */
interface Flag {
  readonly type: 'string' | 'boolean'
  /** One letter that means the same. */
  readonly short?: string
  /** True for a flag that may be given several times. */
  readonly multiple?: boolean
  readonly help: string
}

export type Flags = { readonly [name: string]: Flag }

/** Flags of all commands that change what a command does: a command that does not support one rejects it. */
type Heeded = 'as-of' | 'dry-run' | 'propose'

/** A command of `tilde`. */
export interface Command {
  /** What follows `tilde`: `keys list`. */
  readonly usage: string
  readonly summary: string
  readonly examples: readonly string[]
  readonly flags: Flags
  /** Those of the flags of every command that would change what this one does, and do. Others of them are refused. */
  readonly heeds?: readonly Heeded[]
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
