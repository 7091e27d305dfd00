import type { IRREGULAR_PASTS, STRESSED } from '../notation/english-words.ts'

// The rules of english.ts for types. A test compares both.

/** `'qualify'` → `'qualifying'`, `'markPaid'` → `'markingPaid'`. */
export type PresentParticiple<Verb extends string> = `${Participle<FirstWord<Verb>>}${Rest<Verb>}`

/** `'qualify'` → `'qualified'`, `'send'` → `'sent'`. */
export type PastTense<Verb extends string> = `${Past<FirstWord<Verb>>}${Rest<Verb>}`

type Participle<W extends string> = W extends `${infer Stem}ie`
  ? `${Stem}ying`
  : Ending<W> extends [infer Before extends string, 'e']
    ? Before extends 'e' | 'o' | 'y' | ''
      ? `${W}ing`
      : AllButLast<W> extends Before
        ? `${W}ing`
        : `${AllButLast<W>}ing`
    : `${Doubled<W>}ing`

type Past<W extends string> = W extends keyof Irregular
  ? Irregular[W]
  : [PrefixedPast<W>] extends [never]
    ? RegularPast<W>
    : PrefixedPast<W>

type PrefixedPast<W extends string, P extends string = Prefix> = P extends Prefix
  ? W extends `${P}${infer Stem extends keyof Irregular & string}`
    ? `${P}${Irregular[Stem]}`
    : never
  : never

type RegularPast<W extends string> =
  Ending<W> extends [infer Before extends string, infer Last extends string]
    ? Last extends 'e'
      ? `${W}d`
      : Last extends 'y'
        ? Before extends Vowel | ''
          ? `${Doubled<W>}ed`
          : `${AllButLast<W>}ied`
        : `${Doubled<W>}ed`
    : never

type Doubled<W extends string> =
  Ending<W> extends [infer Before extends string, infer Last extends string]
    ? Last extends 'c'
      ? Before extends Vowel
        ? `${W}k`
        : W
      : Doubles<W, Before, Last> extends true
        ? `${W}${Last}`
        : W
    : W

type Doubles<W extends string, Before extends string, Last extends string> = W extends Stressed
  ? true
  : Last extends 'l'
    ? Before extends 'a' | 'e' | 'o'
      ? EndsInVowel<AllButLast<AllButLast<W>>> extends true
        ? IsShortSyllable<W, Before, Last>
        : AllButLast<AllButLast<W>> extends ''
          ? IsShortSyllable<W, Before, Last>
          : true
      : IsShortSyllable<W, Before, Last>
    : IsShortSyllable<W, Before, Last>

/** Consonants (or a `qu` after them), one vowel, one consonant. */
type IsShortSyllable<W extends string, Before extends string, Last extends string> = Last extends
  | Vowel
  | 'w'
  | 'x'
  | 'y'
  ? false
  : Before extends Vowel | 'y'
    ? IsOnset<AllButLast<AllButLast<W>>>
    : false

type IsOnset<S extends string> = HasVowel<S> extends false ? true : S extends `${infer C}qu` ? Not<HasVowel<C>> : false

type FirstWord<V extends string, Done extends string = ''> = V extends `${infer C}${infer More}`
  ? Done extends ''
    ? FirstWord<More, C>
    : C extends Break
      ? Done
      : FirstWord<More, `${Done}${C}`>
  : Done
type Rest<V extends string> = V extends `${FirstWord<V>}${infer More}` ? More : ''

type Ending<W extends string, Before extends string = ''> = W extends `${infer C}${infer More}`
  ? More extends ''
    ? [Before, C]
    : Ending<More, C>
  : never
type AllButLast<W extends string> = W extends `${infer C}${infer More}`
  ? More extends ''
    ? ''
    : `${C}${AllButLast<More>}`
  : ''
type HasVowel<W extends string> = W extends `${infer C}${infer More}`
  ? C extends Vowel
    ? true
    : HasVowel<More>
  : false
type EndsInVowel<W extends string> =
  Ending<W> extends [string, infer Last] ? (Last extends Vowel ? true : false) : false
type Not<B extends boolean> = B extends true ? false : true

type Vowel = 'a' | 'e' | 'i' | 'o' | 'u'
type Prefix = 're' | 'un' | 'over' | 'under' | 'out' | 'pre' | 'up' | 'mis' | 'with'
type Break = Capital | '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'
type Capital =
  | 'A'
  | 'B'
  | 'C'
  | 'D'
  | 'E'
  | 'F'
  | 'G'
  | 'H'
  | 'I'
  | 'J'
  | 'K'
  | 'L'
  | 'M'
  | 'N'
  | 'O'
  | 'P'
  | 'Q'
  | 'R'
  | 'S'
  | 'T'
  | 'U'
  | 'V'
  | 'W'
  | 'X'
  | 'Y'
  | 'Z'
type Irregular = typeof IRREGULAR_PASTS
type Stressed = (typeof STRESSED)[number]
