import { signal } from '@preact/signals'
import type { FileValue } from '@tildebase/nouns'
import type { Entity } from '../values/entity.ts'
import type { Noun } from '../values/noun.ts'

/** Where files are: a field of an entity, now or at an event. */
export interface FilePlace {
  readonly type: string
  readonly id: string
  readonly field: string
  readonly list: boolean
  /** A time or the number of an event; null is now. */
  readonly asOf: string | null
}

/** A file in the viewer, with the others of its field. */
export interface ShownFile extends FilePlace {
  readonly values: readonly FileValue[]
  readonly at: number
}

export const shown = signal<ShownFile | null>(null)

/** A file that is being sent, or whose sending was paused or failed. It continues when people look at another page. */
export interface Upload {
  readonly id: number
  readonly name: string
  /** The name of the entity that gets it. */
  readonly title: string
  readonly sent: number
  readonly size: number
  readonly state: 'waiting' | 'sending' | 'paused' | 'failed'
  readonly failure: Error | null
  pause(): void
  resume(): void
  cancel(): void
}

export const uploads = signal<readonly Upload[]>([])

/** Files that wait until people choose the field for them. */
export interface Attaching {
  readonly noun: Noun
  readonly entity: Entity
  readonly files: readonly File[]
}

export const attaching = signal<Attaching | null>(null)
