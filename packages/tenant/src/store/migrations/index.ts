import { FROM_1 } from './from-1.ts'
import { FROM_2 } from './from-2.ts'
import { FROM_3 } from './from-3.ts'
import { FROM_4 } from './from-4.ts'
import { FROM_5 } from './from-5.ts'
import { FROM_6 } from './from-6.ts'
import { FROM_7 } from './from-7.ts'
import { FROM_8 } from './from-8.ts'
import { FROM_9 } from './from-9.ts'
import { FROM_10 } from './from-10.ts'
import { FROM_11 } from './from-11.ts'
import { FROM_12 } from './from-12.ts'
import { FROM_13 } from './from-13.ts'
import { FROM_14 } from './from-14.ts'

/** What brings a database from each layout to the next. A file here is never edited once it was released. */
export const MIGRATIONS: { readonly [from: number]: readonly string[] } = {
  1: FROM_1,
  2: FROM_2,
  3: FROM_3,
  4: FROM_4,
  5: FROM_5,
  6: FROM_6,
  7: FROM_7,
  8: FROM_8,
  9: FROM_9,
  10: FROM_10,
  11: FROM_11,
  12: FROM_12,
  13: FROM_13,
  14: FROM_14,
}
