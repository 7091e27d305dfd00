import type { Given } from './entities/given.ts'
import type { Link } from './link/link.ts'
import type { Output } from './output/output.ts'
import type { Settings } from './settings.ts'

/** A flag: its value and its purpose. */
interface Flag {
  readonly type: 'string' | 'boolean'
  /** A short form of one letter. */
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
  /** The global flags that this command supports. Others that change the effect of a command are refused. */
  readonly heeds?: readonly Heeded[]
  /** Flags of this command that other commands take as global ones: `Webhook.create --url …`. */
  readonly fieldsLikeGlobal?: readonly string[]
  /** Names of flags that are valid without being listed: `organization.name`. */
  readonly accepts?: (flag: string) => boolean
  run(call: Call): Promise<void>
}

/** One call of a command. */
export interface Call {
  /** The arguments after the command, without flags. */
  readonly words: readonly string[]
  readonly flags: Given
  readonly settings: Settings
  readonly out: Output
  /** The tenant that the command works on. */
  readonly link: () => Link
}
