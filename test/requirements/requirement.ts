/** A part of the system that one group of requirements speaks of. */
export type Area =
  | 'rest'
  | 'automation'
  | 'query'
  | 'keys'
  | 'lenses'
  | 'events'
  | 'webhooks'
  | 'bulk'
  | 'sync'
  | 'mcp'
  | 'agents'
  | 'batch'
  | 'changesets'
  | 'metrics'
  | 'client'
  | 'cli'
  | 'hosts'
  | 'running'
  | 'proof'
  | 'cluster'
  | 'past'

/** One checkable fact of the contract: a sentence of service.md or of a numbered decision, in our own words. */
export type Requirement<Id extends string = string> = {
  readonly id: Id
  readonly source: string
  readonly text: string
  readonly area: Area
}

/** Facts by their source, each under its id. */
type Facts = Readonly<Record<string, Readonly<Record<string, string>>>>

type IdOf<F extends Facts> = { [Source in keyof F]: keyof F[Source] & string }[keyof F]

/** The requirements of one area, written as source → id → text. */
export function requirements<const F extends Facts>(area: Area, facts: F): readonly Requirement<IdOf<F>>[] {
  return Object.entries(facts).flatMap(([source, texts]) =>
    Object.entries(texts).map(([id, text]) => ({ id: id as IdOf<F>, source, text, area })),
  )
}
