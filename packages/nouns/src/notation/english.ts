import { IRREGULAR_PASTS, STRESSED } from './english-words.ts'

/** `qualify` → `qualifying`. Of a compound such as `markPaid` the first word is inflected: `markingPaid`. */
export function presentParticiple(verb: string): string {
  return inflectFirst(verb, (word) => {
    if (word.endsWith('ie')) return `${word.slice(0, -2)}ying`
    if (/[^eoy]e$/.test(word) && word.length > 2) return `${word.slice(0, -1)}ing`
    return `${doubled(word)}ing`
  })
}

/** `qualify` → `qualified`, `send` → `sent`: the past participle, which names the event of a verb. */
export function pastTense(verb: string): string {
  return inflectFirst(verb, (word) => {
    const irregular = irregularPast(word)
    if (irregular !== undefined) return irregular
    if (word.endsWith('e')) return `${word}d`
    if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ied`
    return `${doubled(word)}ed`
  })
}

/** The plural path of a type: `ApiKey` → `api-keys`, `Activity` → `activities`. */
export function pluralPath(name: string): string {
  const words = kebab(name).split('-')
  const last = words.pop() as string
  return [...words, plural(last)].join('-')
}

/** The prefix of a type's ids: `ApiKey` → `apiKey`, `SEOPage` → `seoPage`. */
export function camelPrefix(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z])|^[A-Z]+/, (capitals) => capitals.toLowerCase())
}

/** `['Lead', 'Qualified', 'Customer']` → `Lead, Qualified or Customer`. */
export function listed(words: readonly string[], joint = 'or'): string {
  if (words.length < 2) return words[0] ?? ''
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`
}

/** `a Contact`, `an Organization`. */
export function article(name: string): string {
  return `${/^(?:[AEIO]|U(?!se|ni))/i.test(name) ? 'an' : 'a'} ${name}`
}

function inflectFirst(verb: string, inflect: (word: string) => string): string {
  const rest = verb.search(/[A-Z0-9]/)
  return rest < 1 ? inflect(verb) : inflect(verb.slice(0, rest)) + verb.slice(rest)
}

function doubled(word: string): string {
  if (/[aeiou]c$/.test(word)) return `${word}k`
  const doubles = ONE_SHORT_SYLLABLE.test(word) || SHORT_BEFORE_L.test(word) || STRESSED_AT_THE_END.has(word)
  return doubles ? word + word.at(-1) : word
}

const ONE_SHORT_SYLLABLE = /^(?:[^aeiou]*|[^aeiou]*qu)[aeiouy][^aeiouwxy]$/
const SHORT_BEFORE_L = /[^aeiou][aeo]l$/

const STRESSED_AT_THE_END: ReadonlySet<string> = new Set(STRESSED)

function irregularPast(word: string): string | undefined {
  const whole = IRREGULAR.get(word)
  if (whole !== undefined) return whole
  const [, prefix = '', stem = ''] = /^(re|un|over|under|out|pre|up|mis|with)(.+)$/.exec(word) ?? []
  const past = IRREGULAR.get(stem)
  return past === undefined ? undefined : prefix + past
}

const IRREGULAR: ReadonlyMap<string, string> = new Map(Object.entries(IRREGULAR_PASTS))

function kebab(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1-$2')
    .toLowerCase()
}

const IRREGULAR_PLURALS: { readonly [word: string]: string } = {
  person: 'people',
  child: 'children',
  man: 'men',
  woman: 'women',
  leaf: 'leaves',
  life: 'lives',
  shelf: 'shelves',
  criterion: 'criteria',
}

const UNCOUNTABLE =
  /^(?:(?:meta)?data|criteria|equipment|feedback|information|media|sheep|series|species|(?:hard|soft)ware|staff)$/

function plural(word: string): string {
  const irregular = IRREGULAR_PLURALS[word]
  if (irregular !== undefined) return irregular
  // `settings` and `news` are plural already, or have no other form.
  if (UNCOUNTABLE.test(word) || (/[^aisu]s$/.test(word) && word !== 'lens')) return word
  if (word.endsWith('sis')) return `${word.slice(0, -2)}es`
  if (word.endsWith('quiz')) return `${word}zes`
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`
  if (/(?:s|x|z|ch|sh)$/.test(word)) return `${word}es`
  return `${word}s`
}
