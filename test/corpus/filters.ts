import type { JsonObject } from '@tildebase/nouns'

/** One case of the query language: which of the documents a filter finds, by their place. */
export interface FilterCase {
  readonly says: string
  readonly filter: JsonObject
  readonly documents: readonly JsonObject[]
  readonly found: readonly number[]
  /** Why mingo finds others. */
  readonly unlikeMingo?: string
}

const MISSING: readonly JsonObject[] = [{ f: 1 }, { f: null }, {}, { f: [] }, { f: [null, 1] }]

/** The query language by examples. */
export const FILTERS: readonly FilterCase[] = [
  { says: 'an empty filter finds everything', filter: {}, documents: [{}, { f: 1 }], found: [0, 1] },
  { says: 'null matches null and missing', filter: { f: null }, documents: MISSING, found: [1, 2, 4] },
  { says: '$ne matches missing', filter: { f: { $ne: 1 } }, documents: MISSING, found: [1, 2, 3] },
  { says: '$nin matches missing', filter: { f: { $nin: [1, 2] } }, documents: MISSING, found: [1, 2, 3] },
  { says: '$in with null matches missing', filter: { f: { $in: [null, 7] } }, documents: MISSING, found: [1, 2, 4] },
  { says: '$in of nothing finds nothing', filter: { f: { $in: [] } }, documents: MISSING, found: [] },
  { says: '$nin of nothing finds everything', filter: { f: { $nin: [] } }, documents: MISSING, found: [0, 1, 2, 3, 4] },
  {
    says: '$exists true is non-null',
    filter: { f: { $exists: true } },
    documents: MISSING,
    found: [0, 3, 4],
    unlikeMingo: 'in MongoDB a null exists',
  },
  {
    says: '$exists false is null or missing',
    filter: { f: { $exists: false } },
    documents: MISSING,
    found: [1, 2],
    unlikeMingo: 'in MongoDB a null exists',
  },
  {
    says: '1 does not match true',
    filter: { f: 1 },
    documents: [{ f: true }, { f: 1 }, { f: '1' }, { f: 1.5 }],
    found: [1],
  },
  { says: 'true does not match 1', filter: { f: true }, documents: [{ f: true }, { f: 1 }, { f: 'true' }], found: [0] },
  {
    says: 'false does not match null, 0 or an empty text',
    filter: { f: false },
    documents: [{ f: false }, { f: 0 }, { f: '' }, {}],
    found: [0],
  },
  {
    says: 'whole numbers beyond 2^53 are found in a list',
    filter: { f: { $in: [9223372036854775000, 1] } },
    documents: [{ f: 9223372036854775000 }, { f: 9007199254740992 }, { f: 1 }],
    found: [0, 2],
  },
  { says: 'a number does not equal its digits', filter: { f: '1' }, documents: [{ f: 1 }, { f: '1' }], found: [1] },
  {
    says: 'a text does not equal JSON that reads like it',
    filter: { f: '[1]' },
    documents: [{ f: [1] }, { f: '[1]' }],
    found: [1],
  },
  {
    says: 'comparison keeps to numbers',
    filter: { f: { $gt: 0 } },
    documents: [{ f: 1 }, { f: 'a' }, { f: true }, { f: [2] }, { f: { x: 1 } }, {}],
    found: [0, 3],
  },
  {
    says: 'comparison keeps to texts',
    filter: { f: { $lt: 'z' } },
    documents: [{ f: 1 }, { f: 'a' }, { f: true }, { f: ['b', 9] }, {}],
    found: [1, 3],
  },
  {
    says: 'comparison keeps to booleans',
    filter: { f: { $gte: false } },
    documents: [{ f: 1 }, { f: true }, { f: false }, { f: null }],
    found: [1, 2],
  },
  {
    says: 'texts compare by code point',
    filter: { f: { $gt: '\uffff' } },
    documents: [{ f: '😀' }, { f: '\uffff' }, { f: 'z' }],
    found: [0],
    unlikeMingo: 'it compares UTF-16 units',
  },
  {
    says: 'a scalar matches a list that holds it',
    filter: { f: 'a' },
    documents: [{ f: ['a', 'b'] }, { f: 'a' }, { f: [['a']] }],
    found: [0, 1],
  },
  {
    says: 'each operator may be met by another element',
    filter: { f: { $gt: 5, $lt: 3 } },
    documents: [{ f: [1, 9] }, { f: [4] }, { f: 4 }],
    found: [0],
  },
  {
    says: 'a list is the whole list, or an element equal to it',
    filter: { f: [1, 2] },
    documents: [{ f: [1, 2] }, { f: [2, 1] }, { f: [[1, 2]] }, { f: [1, 2, 3] }],
    found: [0, 2],
  },
  {
    says: 'an empty list equals an empty list',
    filter: { f: [] },
    documents: [{ f: [] }, { f: [[]] }, {}, { f: null }],
    found: [0, 1],
  },
  {
    says: '$in finds a list among lists',
    filter: { f: { $in: [[1], 3] } },
    documents: [{ f: [1] }, { f: [[1]] }, { f: 3 }, { f: 1 }],
    found: [0, 1, 2],
    unlikeMingo: 'it finds no whole list in $in',
  },
  {
    says: 'objects are equal regardless of the order of keys',
    filter: { f: { x: 1, y: { b: 2, a: [1] } } },
    documents: [{ f: { y: { a: [1], b: 2 }, x: 1 } }, { f: { x: 1 } }, { f: [{ x: 1, y: { b: 2, a: [1] } }] }],
    found: [0, 2],
  },
  {
    says: 'an empty object equals an empty object',
    filter: { f: {} },
    documents: [{ f: {} }, { f: { x: 1 } }, {}],
    found: [0],
  },
  {
    says: 'a path goes into objects',
    filter: { 'f.x': 1 },
    documents: [{ f: { x: 1 } }, { f: { x: [1, 2] } }, { f: 1 }, { 'f.x': 1 }],
    found: [0, 1],
  },
  {
    says: 'a path goes into any object of a list',
    filter: { 'f.x': 2 },
    documents: [{ f: [{ x: 1 }, { x: 2 }] }, { f: [{ x: [2] }] }, { f: [[{ x: 2 }]] }],
    found: [0, 1],
  },
  {
    says: 'a number in a path is a place in a list, or a key',
    filter: { 'f.1': 'b' },
    documents: [{ f: ['a', 'b'] }, { f: { 1: 'b' } }, { f: ['b', 'a'] }, { f: [{ 1: 'b' }] }],
    found: [0, 1, 3],
    unlikeMingo: 'it looks for no key behind a list',
  },
  {
    says: '"a.b": null matches a list of scalars',
    filter: { 'f.x': null },
    documents: [{ f: [1, 2] }, { f: [{ x: 1 }] }, { f: [{ x: 1 }, {}] }, { f: 5 }, {}, { f: { x: null } }],
    found: [0, 2, 3, 4, 5],
    unlikeMingo: 'it is as MongoDB was before 9',
  },
  {
    says: '"a.b": null matches an empty list',
    filter: { 'f.x': null },
    documents: [{ f: [] }, { f: { x: [] } }, { f: [[]] }, { f: [{ x: 1 }] }],
    found: [0, 2],
    unlikeMingo: 'it is as MongoDB was before 9',
  },
  {
    says: '"a.b": {$ne: null} does not match an empty list',
    filter: { 'f.x': { $ne: null } },
    documents: [{ f: [] }, { f: { x: [] } }, { f: [[]] }, { f: [{ x: 1 }] }],
    found: [1, 3],
    unlikeMingo: 'it is as MongoDB was before 9',
  },
  {
    says: 'an empty list further along a path is missing too',
    filter: { 'f.x.y': { $in: [null, 7] } },
    documents: [{ f: [{ x: [] }] }, { f: { x: [] } }, { f: [{ x: [{ y: 1 }] }] }, { f: [{ x: { y: 7 } }] }],
    found: [0, 1, 3],
    unlikeMingo: 'it is as MongoDB was before 9',
  },
  {
    says: 'a list at a place in a list is one value',
    filter: { 'f.0': 42 },
    documents: [{ f: [[42]] }, { f: [42] }, { f: [[[42]]] }, { f: { 0: [42] } }, { f: [{ 0: [42] }] }],
    found: [1, 3, 4],
    unlikeMingo: 'it looks at the elements of the list at that place',
  },
  {
    says: 'a list at a place in a list is compared as a whole',
    filter: { 'f.0': { $in: [[42], 7] } },
    documents: [{ f: [[42]] }, { f: [42] }, { f: [[7]] }, { f: [7] }],
    found: [0, 3],
    unlikeMingo: 'it finds no whole list in $in',
  },
  {
    says: 'two places go into a list in a list, and no further',
    filter: { 'f.0.0': 42 },
    documents: [{ f: [[42]] }, { f: [[[42]]] }, { f: [{ 0: 42 }] }, { f: [{ 0: [42] }] }, { f: [42] }],
    found: [0, 2, 3],
    unlikeMingo: 'it looks at the elements of the list at that place',
  },
  {
    says: 'a path goes on behind a place, also into a list of objects there',
    filter: { 'f.1.x': 5 },
    documents: [{ f: [0, { x: 5 }] }, { f: [0, [{ x: 5 }]] }, { f: [{ x: 5 }, 0] }, { f: [0, { x: [5] }] }],
    found: [0, 1, 3],
  },
  {
    says: 'a place that a list does not have is missing',
    filter: { 'f.2': null },
    documents: [{ f: [1] }, { f: [] }, { f: [1, 2, 3] }, { f: [1, 2, null] }, {}, { f: [{ 2: 5 }] }],
    found: [0, 1, 3, 4],
    unlikeMingo: 'it looks for no key behind a list',
  },
  {
    says: 'lists compare element by element, as a whole or as an element',
    filter: { f: { $gte: [1, 2] } },
    documents: [
      { f: [1, 2] },
      { f: [1, 1, 9] },
      { f: [1, 2, 0] },
      { f: [2] },
      { f: [1] },
      { f: [0, [1, 3]] },
      { f: ['a'] },
      { f: 5 },
      { f: 'z' },
      {},
    ],
    found: [0, 2, 3, 5, 6],
    unlikeMingo: 'it compares no whole list',
  },
  {
    says: 'in a list null is less than numbers, texts, objects, lists and booleans',
    filter: { f: { $lt: ['a', 1] } },
    documents: [
      { f: [null, 9] },
      { f: [9] },
      { f: ['a'] },
      { f: ['a', 1] },
      { f: [{}] },
      { f: [[]] },
      { f: [true] },
      { f: [] },
    ],
    // [[]] holds an empty list, which is less too.
    found: [0, 1, 2, 5, 7],
    unlikeMingo: 'it compares no whole list',
  },
  {
    says: 'a field may have an empty name',
    filter: { '': 1 },
    documents: [{ '': 1 }, { '': 2 }, {}],
    found: [0],
  },
  {
    says: 'a path may go through empty names',
    filter: { 'f..x': 1 },
    documents: [{ f: { '': { x: 1 } } }, { f: { x: 1 } }],
    found: [0],
  },
  {
    says: '$exists on a path is non-null for some',
    filter: { 'f.x': { $exists: true } },
    documents: [{ f: [{ x: null }, { x: 1 }] }, { f: [{ y: 1 }] }, { f: 1 }],
    found: [0],
  },
  {
    says: '$regex looks at texts, with regard to case',
    filter: { f: { $regex: '^a.c' } },
    documents: [{ f: 'abcd' }, { f: 'ABCD' }, { f: 5 }, { f: ['x', 'axc'] }],
    found: [0, 3],
  },
  {
    says: '$options i disregards case',
    filter: { f: { $regex: '^a.c', $options: 'i' } },
    documents: [{ f: 'abcd' }, { f: 'ABCD' }, { f: 'a\nc' }],
    found: [0, 1],
  },
  {
    says: '$options s lets a dot be any letter, m lets ^ be any line',
    filter: { f: { $regex: '^b.c', $options: 'ms' } },
    documents: [{ f: 'a\nb\nc' }, { f: 'ab\nc' }],
    found: [0],
  },
  {
    says: '$not holds where the value is missing',
    filter: { f: { $not: { $gt: 5 } } },
    documents: [{ f: 9 }, { f: 1 }, {}, { f: 'x' }, { f: [1, 9] }],
    found: [1, 2, 3],
  },
  {
    says: '$not negates operators together',
    filter: { f: { $not: { $gt: 1, $lt: 5 } } },
    documents: [{ f: 3 }, { f: 1 }, { f: 9 }],
    found: [1, 2],
  },
  {
    says: '$and and $or nest',
    filter: { $or: [{ $and: [{ f: 1 }, { g: 2 }] }, { f: 3 }] },
    documents: [{ f: 1, g: 2 }, { f: 1 }, { f: 3 }],
    found: [0, 2],
  },
  {
    says: 'fields at the top level must all hold',
    filter: { f: 1, g: { $gt: 1, $lt: 3 } },
    documents: [
      { f: 1, g: 2 },
      { f: 1, g: 3 },
      { f: 2, g: 2 },
    ],
    found: [0],
  },
  {
    says: 'whole numbers beyond 2^53 are compared as the numbers they are',
    filter: { f: { $gte: 9223372036854775000 } },
    documents: [{ f: 9223372036854775000 }, { f: 9223372036854774000 }, { f: 1e300 }],
    found: [0, 2],
  },
]
