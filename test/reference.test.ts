import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { catalogue, DOMAINS, type Noun } from '@tildebase/nouns'
import { describe, expect, test } from 'vitest'
import { referencePages } from '../build/reference/index.ts'
import { filled } from '../build/reference/markdown.ts'
import { COMMANDS } from '../packages/cli/src/commands.ts'
import { helpFor, overview } from '../packages/cli/src/help.ts'

const ROOT = join(import.meta.dirname, '..')
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8')
const page = (name: string) => read(`docs/reference/${name}.md`)
const SOURCES = globSync(['packages/*/src/**/*.{ts,tsx}', 'packages/*/bin/*.js'], { cwd: ROOT })
  .filter((path) => !path.includes('.test.'))
  .map(read)

/** What a pattern finds in the sources, each once. The pattern has one group. */
function found(pattern: RegExp, texts: readonly string[] = SOURCES): string[] {
  return [...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, word]) => word!)))]
}

/** The words of a list in a source file: `const KINDS = ['a', 'b']`, `type Kind = 'a' | 'b'`. */
function wordsIn(path: string, start: string): string[] {
  const text = read(path)
  const from = text.indexOf(start)
  expect(from, `${path} has ${start}`).toBeGreaterThanOrEqual(0)
  return found(/'([^']+)'/g, [text.slice(from, text.indexOf('\n', text.indexOf("'", from)))])
}

/** The words that no row of a table starts with. */
const withoutRow = (words: readonly string[], text: string) => words.filter((word) => !text.includes(`\n| \`${word}`))
const missing = (words: readonly string[], text: string) => words.filter((word) => !text.includes(`\`${word}`))

test('the generated parts of the reference are as the code says; npm run docs:reference writes them', async () => {
  for (const [path, text] of Object.entries(await referencePages())) expect(read(path), path).toBe(text)
})

describe('the reference has', () => {
  test('every error code that the sources throw, with its cause and remedy', () => {
    const codes = found(/new Problem\(\s*'([a-z_]+)'/g)

    expect(codes.length).toBeGreaterThan(50)
    expect(withoutRow(codes, page('errors'))).toEqual([])
  })

  test('every setting that the sources read', () => {
    const settings = found(/\b((?:TILDE|OTEL)_[A-Z_]*[A-Z])\b/g).filter((name) => name !== 'TILDE_REEXECUTED')

    expect(settings.length).toBeGreaterThan(40)
    expect(withoutRow(settings, page('settings'))).toEqual([])
  })

  test('every command, and every flag that its help names', async () => {
    const text = page('cli')
    const sections = new Map(text.split(/^### /m).map((section) => [section.split('\n')[0]!, section]))
    const flagsIn = (help: string) => found(/^\s+(?:-\w, )?--([\w-]+)/gm, [help])

    expect(
      missing(
        flagsIn(overview()).map((flag) => `--${flag}`),
        text,
      ),
    ).toEqual([])
    for (const name of Object.keys(COMMANDS)) {
      const flags = flagsIn(await helpFor(name)).map((flag) => `--${flag}`)
      expect(missing(flags, sections.get(name) ?? ''), name).toEqual([])
      expect(sections.get(name), name).toBeDefined()
    }
  })

  test('every operator that the parser of filters knows', () => {
    const operators = [
      ...found(/^ {2}(\$\w+): \{ op/gm, [read('packages/nouns/src/filter/operand.ts')]),
      ...wordsIn('packages/nouns/src/filter/parse-filter.ts', 'const LOGICAL'),
    ]

    expect(operators.length).toBeGreaterThan(13)
    expect(withoutRow(operators, page('query'))).toEqual([])
    expect(page('query')).toContain('`$options`')
  })

  test('every kind of field, every part of a verb and of a timer, and every name with $', () => {
    const kinds = wordsIn('packages/nouns/src/notation/parse-field.ts', 'const KINDS')
    const parts = wordsIn('packages/nouns/src/notation/parse-verb.ts', 'const PARTS')
    const timers = wordsIn('packages/nouns/src/notation/parse-timer.ts', 'const PARTS')
    const about = wordsIn('packages/nouns/src/notation/parse-about.ts', 'const ABOUT')

    expect([kinds.length, parts.length, timers.length, about.length]).toEqual([8, 7, 4, 7])
    expect(withoutRow([...kinds, ...parts, ...timers, ...about, '->', '<-', '='], read('docs/types.md'))).toEqual([])
  })

  test('every action and area of scopes, and every role', () => {
    const actions = [...wordsIn('packages/tenant/src/grant/scopes.ts', 'const ACTIONS'), 'approve']
    const roles = found(/(\w+): '\w+:all'/g, [read('packages/tenant/src/services/identity/roles.ts')])

    expect(actions.length).toBeGreaterThan(3)
    expect(roles).toEqual(['Admin', 'Member', 'Viewer'])
    expect(withoutRow([...actions, ...roles, ...DOMAINS], page('access'))).toEqual([])
    expect(missing(['approve:own', 'all'], page('access'))).toEqual([])
  })

  test.each(Object.values(catalogue) as unknown as Noun[])(
    'the type $name with its fields, verbs and events',
    (noun) => {
      const text = page(`types/${noun.domain}`)
      const section = text.split(/^## /m).find((part) => part.startsWith(`${noun.name}\n`)) ?? ''
      const own = Object.values(noun.verbs).filter(({ name }) => Object.hasOwn(noun.notation, name))
      const states = own.flatMap(({ set }) => (noun.stateField && set?.[noun.stateField]) || [])

      expect(missing(Object.keys(noun.fields), section)).toEqual([])
      expect(
        missing(
          own.flatMap(({ name, event }) => [name, `${noun.name}.${event}`]),
          section,
        ),
      ).toEqual([])
      if (states.length > 0) expect(section).toContain('```mermaid\nstateDiagram-v2')
    },
  )
})

test('a page that asks for a part that does not exist is refused', () => {
  expect(() => filled('x.md', '<!-- generated: nothing -->\n<!-- /generated -->', {})).toThrow('nothing')
})
