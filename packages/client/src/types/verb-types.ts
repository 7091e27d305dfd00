import type { Draft, EventPattern, Json, Noun, NounMap, Patch } from '@tildebase/nouns'

/** A draft whose event patterns are checked: those of a webhook, and the trigger of a workflow. */
export type DraftOf<T extends Noun, C extends NounMap> = WithPatterns<T, C, Draft<T>>
export type PatchOf<T extends Noun, C extends NounMap> = WithPatterns<T, C, Patch<T>>

type WithPatterns<T extends Noun, C extends NounMap, D> = T['name'] extends 'Webhook'
  ? Replaced<D, 'events', readonly EventPattern<C>[]>
  : T['name'] extends 'Workflow'
    ? Replaced<D, 'triggerEvent', EventPattern<C>>
    : D

/** The same fields, one of them with values of this type. Optional fields stay optional. */
type Replaced<D, Name extends string, V> = {
  readonly [K in keyof D]: K extends Name ? V | Extract<D[K], null | undefined> : D[K]
}

/** What verbs of built-in types answer in addition to the entity. */
export type VerbAnswer<Name extends string, V extends string> = `${Name}.${V}` extends keyof Answers
  ? Answers[`${Name}.${V}`]
  : unknown

interface Answers {
  /** The link for the person, or `sent` if the service sent it by e-mail. */
  readonly 'User.invite': { readonly invitation?: string; readonly sent?: boolean }
  readonly 'User.suspend': { readonly made: Made }
  readonly 'ApiKey.revoke': { readonly made: Made }
  readonly 'Funnel.analyze': { readonly analysis: FunnelAnalysis }
  readonly 'Changeset.approve': { readonly correlation: string; readonly results: readonly Json[] }
}

/** The ids of what a key or a person stored, which continues with their rights. */
export interface Made {
  readonly apiKeys: readonly string[]
  readonly webhooks: readonly string[]
  readonly hooks: readonly string[]
  readonly workflows: readonly string[]
  readonly integrations: readonly string[]
}

export interface FunnelAnalysis {
  readonly steps: readonly {
    readonly name: string
    readonly count: number
    readonly conversion: number | null
    readonly dropOff: number
  }[]
  readonly conversionRate: number | null
}
