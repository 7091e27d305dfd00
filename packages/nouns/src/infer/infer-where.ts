import type { Json, Noun } from '../noun.ts'
import type { FilePart, FileValue } from '../value/file.ts'
import type {
  FieldKeys,
  FileField,
  IsBack,
  IsJson,
  IsLoose,
  Meta,
  NounMap,
  RelationName,
  TargetOf,
  Text,
  Value,
} from './infer.ts'

/** No types for relations: dotted paths are then unknown. */
type NoNouns = { readonly [name in never]: Noun }

/** A filter over a type: its fields, its meta-fields, and the fields of its relations by dots, three levels at most. */
export type Where<T extends Noun, C extends NounMap = NoNouns> = Logic<T, C> &
  (IsLoose<T> extends true ? { readonly [path: string]: unknown } : Conditions<T, C>)

/** The condition of a field: a value of its type, null, or operators that must all match. */
export type Condition<V> = Operand<V> | Operators<V>

/** The relations to load, nested by dots, three levels at most. */
export type Include<T extends Noun, C extends NounMap = NoNouns> =
  IsLoose<T> extends true ? string : IncludePath<T, C, Levels>

/** The fields to sort by: own fields that hold one value, and meta-fields. */
export type SortField<T extends Noun> = IsLoose<T> extends true ? string : OwnFields<T> | keyof Meta

interface Logic<T extends Noun, C extends NounMap> {
  readonly $and?: readonly Where<T, C>[]
  readonly $or?: readonly Where<T, C>[]
  readonly $text?: string | { readonly $search: string }
}

interface Operators<V> {
  readonly $eq?: Operand<V>
  readonly $ne?: Operand<V>
  readonly $gt?: Item<V>
  readonly $gte?: Item<V>
  readonly $lt?: Item<V>
  readonly $lte?: Item<V>
  readonly $in?: readonly Operand<V>[]
  readonly $nin?: readonly Operand<V>[]
  readonly $exists?: boolean
  readonly $regex?: Item<V> extends string ? string : never
  readonly $options?: Item<V> extends string ? string : never
  readonly $not?: Operators<V>
}

type Operand<V> = V | Item<V> | null
type Item<V> = V extends readonly (infer One)[] ? One : V

type Conditions<T extends Noun, C extends NounMap> = {
  readonly [P in FieldPath<T, C, Levels>]?: Condition<ValueAt<T, C, P>>
} & { readonly [K in keyof Meta]?: Condition<Meta[K]> } & {
  readonly [P in `${JsonFields<T>}.${string}`]?: Condition<Json>
} & {
  readonly [P in FilePart as `${FileField<T>}.${P}`]?: Condition<FileValue[P]>
}

/** One entry per remaining level, including the final field. */
type Levels = [1, 1, 1]

type FieldPath<T extends Noun, C extends NounMap, Left extends readonly 1[]> = Left extends [
  1,
  ...infer Rest extends 1[],
]
  ? OwnFields<T> | (Rest extends [] ? never : RelatedPath<T, C, Rest>)
  : never

type RelatedPath<T extends Noun, C extends NounMap, Left extends readonly 1[]> = {
  [K in RelationName<T>]: PathBehind<TargetOf<Text<T, K>>, K, C, Left>
}[RelationName<T>]

/** For each target of a relation. */
type PathBehind<Name, K extends string, C extends NounMap, Left extends readonly 1[]> = Name extends keyof C
  ? `${K}.${FieldPath<C[Name], C, Left> | (keyof Meta & string)}`
  : never

type IncludePath<T extends Noun, C extends NounMap, Left extends readonly 1[]> = Left extends [
  1,
  ...infer Rest extends 1[],
]
  ? RelationName<T> | (Rest extends [] ? never : RelatedInclude<T, C, Rest>)
  : never

type RelatedInclude<T extends Noun, C extends NounMap, Left extends readonly 1[]> = {
  [K in RelationName<T>]: IncludeBehind<TargetOf<Text<T, K>>, K, C, Left>
}[RelationName<T>]

type IncludeBehind<Name, K extends string, C extends NounMap, Left extends readonly 1[]> = Name extends keyof C
  ? `${K}.${IncludePath<C[Name], C, Left>}`
  : never

type OwnFields<T extends Noun> = { [K in FieldKeys<T>]: IsBack<Text<T, K>> extends true ? never : K }[FieldKeys<T>]
type JsonFields<T extends Noun> = { [K in FieldKeys<T>]: IsJson<Text<T, K>> extends true ? K : never }[FieldKeys<T>]

/** The type of a field by its path, relations included. */
export type ValueAt<T extends Noun, C extends NounMap, P extends string> = P extends keyof Meta
  ? Meta[P]
  : P extends `${infer K}.${infer Rest}`
    ? ValueBehind<TargetOf<Text<T, K>>, C, Rest>
    : Value<T, P>

type ValueBehind<Name, C extends NounMap, Rest extends string> = Name extends keyof C
  ? ValueAt<C[Name], C, Rest>
  : never
