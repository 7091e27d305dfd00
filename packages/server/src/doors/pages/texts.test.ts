import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { languageOf } from './language.ts'
import { GERMAN, HEBREW } from './texts.ts'

const DOORS = join(import.meta.dirname, '..')
const LANGUAGES = [
  { name: 'German', texts: GERMAN },
  { name: 'Hebrew', texts: HEBREW },
]

test.each(LANGUAGES)('every text of the pages is in $name, with all its values', ({ texts }) => {
  const files = globSync('{browser,decide,identity,oauth,pages,rest}/**/*.ts', {
    cwd: DOORS,
    exclude: ['**/*.test.ts'],
  })
  const sources = files.map((name) => readFileSync(join(DOORS, name), 'utf8'))
  const named = sources.flatMap((source) => [...source.matchAll(/\bsay\(\s*'((?:[^'\\]|\\.)+)'/g)])
  const wanted = named.map(([, english = '']) => english)
  const places = (text: string) => text.split('{}').length

  expect(wanted.length).toBeGreaterThan(60)
  expect(wanted.filter((english) => !Object.hasOwn(texts, english))).toEqual([])
  expect(Object.entries(texts).filter(([english, other]) => places(english) !== places(other))).toEqual([])
})

test('German and Hebrew have the same texts', () => {
  expect(Object.keys(HEBREW).sort()).toEqual(Object.keys(GERMAN).sort())
})

test.each([
  ['the choice of the reader', { cookie: 'a=b; tilde_language=he', 'accept-language': 'de' }, 'he'],
  ['the language of the browser', { 'accept-language': 'fr-FR, de-AT;q=0.8, en;q=0.5' }, 'de'],
  ['English without either', {}, 'en'],
  ['English for a name that is no language', { cookie: 'tilde_language=constructor' }, 'en'],
])('a page is in %s', (_, headers, expected) => {
  expect(languageOf({ headers }).code).toBe(expected)
})

test('a value in a text cannot become markup', () => {
  const { say } = languageOf({ headers: { 'accept-language': 'de' } })

  expect(say('Sign in to {}', '<b>').text).toBe('Bei &lt;b&gt; anmelden')
  expect(say('constructor {}', '"').text).toBe('constructor &quot;')
})
