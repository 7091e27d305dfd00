import { parseNoun } from '@tildebase/nouns'
import { code, table } from './markdown.ts'

/** Each kind of field: notation, what it holds, an example of a value. All are declared below, so that none is invented. */
const KINDS: readonly (readonly [notation: string, meaning: string, value: string])[] = [
  ['string', 'Text.', '"Ada"'],
  ['number', 'A finite number.', '12.5'],
  ['number 0..100', 'A number in a range; `0..` and `..100` have one bound. Bounds are included.', '50'],
  ['boolean', 'true or false.', 'true'],
  ['date', 'A day. Any ISO 8601 time is accepted and cut to its day in UTC.', '"2026-01-31"'],
  ['datetime', 'A time. Stored in UTC with milliseconds.', '"2026-01-31T09:00:00.000Z"'],
  ['json', 'Any JSON, at most 64 levels deep.', '{"a": [1, 2]}'],
  ['file', 'A file: content that is stored by its hash, with size, type and name.', '{"hash": "sha256:…"}'],
  ['secret', 'Text that can be written and never read, filtered or exported. Built-in types only.', '"hush"'],
  ['Lead | Qualified | Customer', 'An enum: one of these words, at most 200.', '"Lead"'],
  ['-> Organization', 'A relation to one entity. The value is its id.', '"organization_…"'],
  ['-> Organization.contacts', 'The same; `contacts` is the inverse relation on Organization.', '"organization_…"'],
  ['-> User | Contact', 'A relation to an entity of one of several types; `include` shows its `$type`.', '"user_…"'],
  ['-> *', 'A relation to an entity of any type.', '"deal_…"'],
  ['-> Contact[]', 'A relation to many entities.', '["contact_…"]'],
  ['<- Deal.contact[]', 'The inverse of the relation `Deal.contact`. Not stored; see it with `include`.', ''],
  ['= quantity * price', 'A computed field: an expression. Read-only.', '30'],
]

const MARKS: readonly (readonly [notation: string, meaning: string])[] = [
  ['string!', 'Required on create; an update cannot clear it.'],
  ['string#', 'Indexed: filters and sorts on it are fast.'],
  ['string##', 'Unique, and indexed. A second entity with the value gets 409 `conflict`.'],
  ['string[]', 'A list of values.'],
  ['string!##', 'Marks can be combined.'],
  ['number = 0', 'A default for a create without the field.'],
  ['datetime = now', 'The time of creation as default.'],
  ['string (set by the service)', 'Only the service writes it. Used by built-in types.'],
]

const ABOUT: { readonly [name: string]: string } = {
  $domain: 'The domain that the type belongs to, for scopes and lenses. Default `custom`.',
  $path:
    'The plural path. Default: the plural of the name, such as `/order-lines` for OrderLine and `/settings` for Settings.',
  $strict: '`true` rejects fields that are not declared. Default `false`: they are stored as they are.',
  $timers: 'Verbs that run at the time of a field. At most 20.',
  $unique: 'Lists of 2 to 8 fields that are unique together: `[["order", "position"]]`. At most 10 lists.',
  $guarded: '`true`: only verbs change the state field.',
  $start: 'States, besides the default, that an entity of a guarded type may be created in.',
}

const VERB: { readonly [part: string]: string } = {
  event: 'The past form, for the event and the AFTER hook. Default: derived from the name (`ship` → `shipped`).',
  before: 'The present participle, for the BEFORE hook. Default: derived (`ship` → `shipping`).',
  from: 'The states in which the verb is possible; absent or `"*"` means any. Otherwise 409 `invalid_transition`.',
  set: 'Fields and their values after the verb. `$now` is the time, `$args.x` an argument, `$next` the next word of the enum; null clears a field. (`$computed` marks values that built-in types compute in code.)',
  args: 'Names of arguments, for documentation and tools. Any field may be given.',
  order: 'The order of states for `$next`, when it is not the order of the enum.',
  keeps: '`"event"`: arguments are stored in the event and change no field.',
}

const TIMER: { readonly [part: string]: string } = {
  at: 'The date or datetime field with the time.',
  run: 'The verb to run.',
  from: 'The states in which it runs; absent means any.',
  when: 'A filter that the entity must match at that time.',
}

/** The kinds of fields. */
export function kindTable(): string {
  check()
  return table(
    ['Notation', 'Holds', 'Value'],
    KINDS.map(([notation, meaning, value]) => [code(notation), meaning, value && code(value)]),
  )
}

export function markTable(): string {
  return table(
    ['Notation', 'Meaning'],
    MARKS.map(([notation, meaning]) => [code(notation), meaning]),
  )
}

export function aboutTable(): string {
  return wordTable('Name', ABOUT)
}

export function verbTable(): string {
  return wordTable('Part', VERB)
}

export function timerTable(): string {
  return wordTable('Part', TIMER)
}

function wordTable(head: string, words: { readonly [name: string]: string }): string {
  return table(
    [head, 'Meaning'],
    Object.entries(words).map(([name, meaning]) => [code(name), meaning]),
  )
}

/** Declares a type with every notation of the tables: one that the parser does not take is a fault of this page. */
function check(): void {
  const fields = [...KINDS, ...MARKS].map(([notation], index) => [`f${index}`, notation] as const)
  parseNoun('Example', {
    ...Object.fromEntries(fields),
    quantity: 'number',
    price: 'number',
    at: 'datetime',
    status: 'Draft | Open | Done = Draft',
    move: {
      event: 'wasMoved',
      before: 'isMoving',
      from: ['Draft', 'Open'],
      set: { status: '$next' },
      args: ['reason'],
      order: ['Draft', 'Open', 'Done'],
      keeps: 'event',
    },
    $domain: 'custom',
    $path: 'examples',
    $strict: false,
    $timers: { later: { at: 'at', run: 'move', from: ['Draft'], when: { quantity: 1 } } },
    $unique: [['quantity', 'price']],
    $guarded: true,
    $start: ['Open'],
  })
}
