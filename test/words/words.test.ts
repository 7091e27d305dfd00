import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { findPhrases } from './find.ts'
import { readProse } from './prose.ts'

describe('the prose of a program', () => {
  const texts = (path: string, code: string) => readProse(path, code).map(({ text }) => text)

  test('contains its comments and its strings of three words', () => {
    const code = `/** Opens it. */\nconst a = 'three words here' // why\nconst b = 'crm'\nconst c = /'no string'/`

    expect(texts('packages/x.ts', code)).toEqual(['/** Opens it. */', 'three words here', '// why'])
  })

  test('contains the titles of tests, and no other strings of tests', () => {
    const code = [
      "test('a title of a test', () => { send('data of a test') })",
      "verifies(['a.b', 'c.d'], 'another title of a test', run)",
      "test.each([\n  ['data of a table'],\n])('the title of a table', run)",
    ].join('\n')

    expect(texts('test/x.test.ts', code)).toEqual([
      'a title of a test',
      'another title of a test',
      'the title of a table',
    ])
  })

  test('contains the text between tags, and leaves out SQL and quoted code', () => {
    expect(texts('x.tsx', '<p>Two words {n} <b>or three here</b></p>')).toEqual(['Two words ', 'or three here'])
    expect(texts('x.ts', '`SELECT id FROM log`; // see `told` there')).toEqual(['// see `` there'])
  })
})

describe('a phrase of the list', () => {
  test.each([
    ['a page', 'x.md', 'One\n\nis told twice', 3],
    ['the second line of a comment', 'x.ts', '/**\n * One.\n * Whoever asks.\n */', 3],
    ['a message', 'x.ts', "throw new Error('Nobody is here now.')", 1],
    ['a comment of a setting', 'x.yaml', 'a: 1 # for good', 1],
  ])('in %s is found with its line', (_, path, text, line) => {
    expect(findPhrases(path, text)).toMatchObject([{ line }])
  })

  test.each([
    ['a block of code', 'x.md', '```sh\ntold\n```'],
    ['quoted code', 'x.md', 'not `told` but'],
    ['an address', 'x.md', '[this](told.md)'],
    ['the name of a variable', 'x.ts', 'const told = nobody'],
    ['the data of a test', 'test/x.test.ts', "send('nobody is told this')"],
  ])('in %s is ignored', (_, path, text) => {
    expect(findPhrases(path, text)).toEqual([])
  })

  test('is a whole word', () => {
    expect(findPhrases('x.md', 'Standard, understand, there is no type, is no longer')).toEqual([])
  })
})

/** Pages for those who build Tildebase, and the list of the built-in types, which is written by a program. */
const FOR_OTHERS = /^docs\/(?:decisions|design|notes|spec|reference\/types)\/|^docs\/dependencies\.md$/

test('the pages for users have at most 45,000 words, tables and code included', () => {
  const root = join(import.meta.dirname, '..', '..')
  const pages = globSync('docs/**/*.md', { cwd: root }).filter((page) => !FOR_OTHERS.test(page))
  const words = pages.map((page) => {
    const text = readFileSync(join(root, page), 'utf8').replaceAll(/<!--[\s\S]*?-->/g, '')
    return text.split(/\s+/).filter((word) => /\w/.test(word)).length
  })

  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(45_000)
})
