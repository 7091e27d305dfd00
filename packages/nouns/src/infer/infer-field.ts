import type { Json } from '../noun.ts'
import type { FileValue } from '../value/file.ts'

// The rules of parse-field.ts for types.

/**
 * The type of a field of this notation: `string[]` → `readonly string[]`, `A | B` → `'A' | 'B'`, `-> Tag` → `string`.
 */
export type ValueOf<F extends string> =
  IsComputed<F> extends true ? Computed<F> : IsList<F> extends true ? readonly One<F>[] : One<F>

/** Whether a draft must contain this field, or every entity has it. */
export type IsRequired<F extends string> = Declared<F> extends `${string}!${string}` ? true : false
export type HasDefault<F extends string> = F extends `${string}=${string}` ? true : false

/** Whether every entity has a value in this field: it is required, or has a default. */
export type IsPresent<F extends string> =
  IsComputed<F> extends true ? false : IsRequired<F> extends true ? true : HasDefault<F>
export type IsService<F extends string> = F extends `${string}(set by the service)` ? true : IsComputed<F>
type IsComputed<F extends string> = Trim<F> extends `=${string}` ? true : false
export type IsSecret<F extends string> = F extends `secret${string}` ? true : false
export type IsBack<F extends string> = Trim<F> extends `<-${string}` ? true : false
type IsList<F extends string> = Declared<F> extends `${string}[]${string}` ? true : false
export type IsFile<F extends string> = Base<F> extends 'file' ? true : false
export type IsJson<F extends string> = Base<F> extends 'json' ? true : false

/** The target types of a relation, in either direction; never for other fields. */
export type TargetOf<F extends string> =
  Trim<F> extends `${'->' | '<-'}${infer Rest}`
    ? Base<Rest> extends `${infer T}.${string}`
      ? T
      : Words<Base<Rest>>
    : never

/**
 * Arithmetic and most aggregate functions return numbers; other computed fields have the type of the field that they
 * read.
 */
type Computed<F extends string> = F extends `${string}${'+' | '-' | '*' | '/' | 'sum(' | 'avg(' | 'count('}${string}`
  ? number
  : number | string | boolean

interface Kinds {
  readonly string: string
  readonly number: number
  readonly boolean: boolean
  readonly date: string
  readonly datetime: string
  readonly json: Json
  readonly file: FileValue
  readonly secret: string
}

type One<F extends string> =
  Trim<F> extends `${'->' | '<-'}${string}`
    ? string
    : Base<F> extends infer B extends keyof Kinds
      ? Kinds[B]
      : Base<F> extends `number ${string}`
        ? number
        : Base<F> extends `${string}|${string}`
          ? Words<Base<F>>
          : never

type Words<S extends string> = S extends `${infer First}|${infer Rest}` ? Trim<First> | Words<Rest> : Trim<S>

/** Without default and suffix: `string! = x` → `string! `. */
type Declared<F extends string> = F extends `${infer A}=${string}` ? A : F extends `${infer A}(set by${string}` ? A : F

/** Without marks: `string!##` → `string`. */
type Base<F extends string> = Trim<WithoutMarks<Declared<F>>>

type WithoutMarks<S extends string> = S extends `${infer A}!`
  ? WithoutMarks<A>
  : S extends `${infer A}#`
    ? WithoutMarks<A>
    : S extends `${infer A}[]`
      ? WithoutMarks<A>
      : S extends `${infer A} `
        ? WithoutMarks<A>
        : S

type Trim<S extends string> = S extends ` ${infer A}` ? Trim<A> : S extends `${infer A} ` ? Trim<A> : S
