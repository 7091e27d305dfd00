import type { Json, Noun, NounMap, SortField, ValueAt, Where } from '@tildebase/nouns'

/** What to group by and what to measure: fields, also behind relations to one by dots. */
export interface Measures<T extends Noun = Noun, C extends NounMap = NounMap> {
  readonly group?: readonly MeasuredPath<T, C>[]
  readonly sum?: readonly NumberPath<T, C>[]
  readonly avg?: readonly NumberPath<T, C>[]
  readonly min?: readonly MeasuredPath<T, C>[]
  readonly max?: readonly MeasuredPath<T, C>[]
}

/** One group: `{ stage: 'Lead', count: 3, sum: { value: 500 } }`. */
export type Group<T extends Noun, C extends NounMap, M extends Measures<T, C>> = {
  readonly [P in Named<M, 'group'>]: ValueAt<T, C, P> | null
} & { readonly count: number } & Sums<M, 'sum', number> &
  Sums<M, 'avg', number | null> &
  Ends<T, C, M, 'min'> &
  Ends<T, C, M, 'max'>

type MeasuredPath<T extends Noun, C extends NounMap> = Exclude<keyof Where<T, C> & string, '$and' | '$or' | '$text'>

/** The paths that hold numbers. */
type NumberPath<T extends Noun, C extends NounMap> =
  string extends SortField<T>
    ? string
    : {
        [P in MeasuredPath<T, C>]: ValueAt<T, C, P> extends number ? P : Json extends ValueAt<T, C, P> ? P : never
      }[MeasuredPath<T, C>]

type Named<M, Kind extends string> = M extends { readonly [K in Kind]: readonly (infer P extends string)[] } ? P : never

type Sums<M, Kind extends string, V> = [Named<M, Kind>] extends [never]
  ? unknown
  : { readonly [K in Kind]: { readonly [P in Named<M, Kind>]: V } }

type Ends<T extends Noun, C extends NounMap, M, Kind extends string> = [Named<M, Kind>] extends [never]
  ? unknown
  : { readonly [K in Kind]: { readonly [P in Named<M, Kind>]: ValueAt<T, C, P> | null } }
