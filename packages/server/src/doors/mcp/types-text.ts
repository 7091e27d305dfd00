import type { Field, Noun } from '@tildebase/nouns'
import type { Call } from '../call.ts'

/** How long the text about the types may be: agents pay for it in every conversation. */
const LONGEST = 1_900
const BUILT_IN = new Set(['create', 'update', 'delete', 'restore', 'rollback'])

/** The types that the lens surfaces and the key may read: the tenant's own first. */
export function surfacedNouns({ read, lens }: Pick<Call, 'read' | 'lens'>): Noun[] {
  const { domains } = lens
  const shown = read.nouns.all.filter(
    (noun) => (domains === null || domains.has(noun.domain) || noun.domain === 'custom') && read.may('read', noun),
  )
  return [...shown.filter(isCustom), ...shown.filter((noun) => !isCustom(noun))]
}

/** The types in few words: whole where all fit, else what matters most of as many as fit, and the others by name. */
export function typesText(nouns: readonly Noun[], longest = LONGEST): string {
  const whole = nouns.map(inFewWords).join('\n')
  if (whole.length <= longest) return whole
  const names = namesWithin(nouns, longest / 3)
  let left = longest - names.join(', ').length
  const lines: string[] = []
  const described = new Set<string>()
  for (const noun of nouns) {
    const line = inFewerWords(noun)
    left -= line.length
    if (left < 0) break
    lines.push(line)
    described.add(noun.name)
  }
  const others = names.filter((name) => !described.has(name))
  const rest = nouns.length - names.length
  if (others.length > 0) lines.push(`Also: ${others.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`)
  return lines.join('\n')
}

/** `Deal: name*, value:number, stage(Prospecting|Won), contact>Contact; verbs win, lose(lostReason)`. */
export function inFewWords(noun: Noun): string {
  return lineOf(noun, Object.values(noun.fields))
}

/** The same with what a reader cannot guess: what is required, the states, where it leads. */
function inFewerWords(noun: Noun): string {
  const telling = Object.values(noun.fields).filter(
    (field) =>
      field.kind === 'forward' || field.name === noun.stateField || (field.kind !== 'back' && field.required === true),
  )
  return lineOf(noun, telling)
}

function lineOf({ name, verbs }: Noun, fields: readonly Field[]): string {
  const parts = fields.map(fieldText).filter(Boolean)
  const own = Object.values(verbs).filter((verb) => !BUILT_IN.has(verb.name))
  const verbText = own.map((verb) => (verb.args?.length ? `${verb.name}(${verb.args.join(',')})` : verb.name))
  return `${name}: ${parts.join(', ')}${verbText.length > 0 ? `; verbs ${verbText.join(', ')}` : ''}`
}

function fieldText(field: Field): string {
  if (field.kind === 'back') return ''
  const name = `${field.name}${field.required ? '*' : ''}`
  if (field.kind === 'forward') return `${name}>${field.targets?.join('|') ?? field.target}${field.list ? '[]' : ''}`
  if (field.kind === 'enum') return `${name}(${field.values?.join('|')})`
  return field.kind === 'string' ? name : `${name}:${field.kind}`
}

function namesWithin(nouns: readonly Noun[], longest: number): string[] {
  const names: string[] = []
  let length = 0
  for (const { name } of nouns) {
    length += name.length + 2
    if (length > longest) break
    names.push(name)
  }
  return names
}

function isCustom(noun: Noun): boolean {
  return noun.domain === 'custom'
}
