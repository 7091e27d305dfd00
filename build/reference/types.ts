import { ABOUT_TYPES, catalogue, DOMAINS, type Field, type JsonObject, type Noun, type Verb } from '@tildebase/nouns'
import { code, codes, table } from './markdown.ts'
import { stateDiagram } from './state-diagram.ts'

const NOUNS = Object.values(catalogue) as unknown as readonly Noun[]
const BUILT_IN = ['create', 'update', 'delete', 'rollback', 'restore']

/** The pages of the built-in types: one per domain, and their index. */
export function typePages(): { readonly [path: string]: string } {
  const pages = DOMAINS.map((domain) => [`types/${domain}.md`, domainPage(domain)] as const)
  return { 'types/README.md': index(), ...Object.fromEntries(pages) }
}

const NOTE = '<!-- Written by npm run docs:reference. Change the catalogue in packages/nouns instead. -->'

function index(): string {
  const rows = DOMAINS.map((domain) => [
    `[${domain}](${domain}.md)`,
    inDomain(domain)
      .map(({ name }) => `[${name}](${domain}.md#${name.toLowerCase()})`)
      .join(', '),
  ])
  const all = NOUNS.toSorted((a, b) => (a.name < b.name ? -1 : 1))
  return `${[
    '# Built-in types',
    NOTE,
    `Every tenant has these ${NOUNS.length} types. Use them as they are, add fields and verbs to them, or [declare your own](../../types.md).`,
    table(['Domain', 'Types'], rows),
    'Every type also has the meta-fields `$id`, `$type`, `$context`, `$version`, `$createdAt`, `$updatedAt` and `$createdBy`, and the verbs `create`, `update`, `delete`, `rollback` and `restore` unless its page says otherwise. In the diagrams, ⏱ marks a verb that a timer runs.',
    '## Types by name',
    table(
      ['Type', 'Path', 'What it is'],
      all.map(({ name, domain, path }) => [
        `[${name}](${domain}.md#${name.toLowerCase()})`,
        code(`/${path}`),
        ABOUT_TYPES[name as keyof typeof ABOUT_TYPES],
      ]),
    ),
  ].join('\n\n')}\n`
}

function domainPage(domain: string): string {
  return `${[`# Types of ${domain}`, NOTE, ...inDomain(domain).flatMap(typeSection)].join('\n\n')}\n`
}

function inDomain(domain: string): readonly Noun[] {
  return NOUNS.filter((noun) => noun.domain === domain)
}

function typeSection(noun: Noun): string[] {
  const { name, path, prefix, verbs, timers } = noun
  const off = BUILT_IN.filter((verb) => !Object.hasOwn(verbs, verb))
  const own = Object.values(verbs).filter((verb) => !BUILT_IN.includes(verb.name))
  const fields = Object.values(noun.fields)
  const diagram = stateDiagram(noun)
  return [
    `## ${name}`,
    `${ABOUT_TYPES[name as keyof typeof ABOUT_TYPES]} Path ${code(`/${path}`)}, ids ${code(`${prefix}_…`)}.${off.length > 0 ? ` It has no ${codes(off)}.` : ''}`,
    table(
      ['Field', 'Type', 'Notes'],
      fields.filter(({ kind }) => kind !== 'back').map((field) => [code(field.name), kindOf(field), notesOf(field)]),
    ),
    ...backs(fields),
    ...(diagram ? [`States (${code(noun.stateField!)}):`, `\`\`\`mermaid\n${diagram}\n\`\`\``] : []),
    ...(own.length > 0
      ? [table(['Verb', 'Event', 'From', 'Sets', 'Arguments'], own.map(verbRow(name)))]
      : ['It has no verbs of its own.']),
    ...(Object.keys(timers).length > 0
      ? [
          table(
            ['Timer', 'At', 'From', 'Runs'],
            Object.values(timers).map(({ name: timer, at, from, when, run }) => [
              code(timer),
              code(at),
              `${from ? codes(from) : 'any state'}${when ? `, if ${code(JSON.stringify(when))}` : ''}`,
              code(run),
            ]),
          ),
        ]
      : []),
  ]
}

function kindOf(field: Field): string {
  if (field.kind === 'back') return ''
  const list = field.list ? ' list' : ''
  if (field.kind === 'forward') return `relation to ${field.target}${list}`
  return field.kind === 'enum' ? codes(field.values ?? []) : `${field.kind}${list}`
}

function notesOf(field: Field): string {
  if (field.kind === 'back') return ''
  if (field.kind === 'forward')
    return [field.required && 'required', field.inverse && `inverse ${code(`${field.target}.${field.inverse}`)}`]
      .filter(Boolean)
      .join(', ')
  const range = field.min !== undefined || field.max !== undefined ? `${field.min ?? ''}..${field.max ?? ''}` : null
  return [
    field.required && 'required',
    field.index === 'unique' && 'unique',
    field.index === 'indexed' && 'indexed',
    range && `range ${code(range)}`,
    field.default !== undefined && `default ${code(String(field.default))}`,
    field.service && 'set by the service',
  ]
    .filter(Boolean)
    .join(', ')
}

function backs(fields: readonly Field[]): string[] {
  const ways = fields.filter((field) => field.kind === 'back')
  if (ways.length === 0) return []
  const list = ways.map(({ name, target, via, list }) => `${code(name)} (${target}.${via}${list ? ', many' : ''})`)
  return [`Inverse relations: ${list.join(', ')}.`]
}

function verbRow(type: string) {
  return ({ name, event, from, set, args, keeps }: Verb): string[] => [
    code(name),
    code(`${type}.${event}`),
    from ? codes(from) : 'any state',
    settings(set),
    `${codes(args ?? [])}${keeps ? `${args?.length ? ', ' : ''}kept in the event` : ''}`,
  ]
}

function settings(set: JsonObject = {}): string {
  return Object.entries(set)
    .map(([field, value]) => code(`${field} = ${typeof value === 'string' ? value : JSON.stringify(value)}`))
    .join(', ')
}
