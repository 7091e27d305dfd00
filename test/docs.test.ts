import { existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { catalogue } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type BuiltClient, buildClient, findPython } from './client/python.ts'
import {
  type Block,
  programErrors,
  pythonErrors,
  readBlocks,
  type Served,
  serve,
  shellErrors,
  typeErrors,
} from './docs.ts'
import { whyNot } from './needs.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGES = globSync(
  ['*.md', 'docs/**/*.md', 'packages/*/README.md', 'python/*.md', 'deploy/**/*.md', 'skills/**/*.md'],
  { cwd: ROOT },
).toSorted()
const BLOCKS = PAGES.flatMap((page) => readBlocks(page, read(page)))

describe('the pages of this repository', () => {
  test('the README begins with the command to start, ends with that to test, and has at most 120 lines', () => {
    const blocks = readBlocks('README.md', read('README.md'))

    expect([blocks[0]!.code, blocks.at(-1)!.code]).toEqual(['npm ci && npm start\n', 'npm ci && npm test\n'])
    expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(120)
  })

  test('the README names the number of built-in types', () => {
    const [, named] = /(\d+) built-in types/.exec(read('README.md'))!

    expect(Number(named)).toBe(Object.keys(catalogue).length)
  })

  test('every TypeScript block compiles', () => {
    // The files of a tutorial import each other: test/tutorials/ builds them.
    const isFile = ({ marks }: Block) => marks.some((mark) => mark.startsWith('file='))
    expect(typeErrors(BLOCKS.filter((block) => block.language === 'ts' && !isFile(block)))).toBe('')
  })

  test('every JSON block parses', () => {
    for (const { code, page, line } of BLOCKS.filter(({ language }) => language === 'json')) {
      expect(() => JSON.parse(code), `${page}:${line}`).not.toThrow()
    }
  })

  test('every Python block is marked as a test', () => {
    const others = BLOCKS.filter((block) => block.language === 'python' && !isPythonTest(block))

    expect(others.map(({ page, line }) => `${page}:${line}`)).toEqual([])
  })

  const noShell = whyNot('bash', 'curl')
  const python = findPython()
  const noPython = 'missing' in python ? `: without ${python.missing}` : null

  describe('every block that is marked as a test runs against a server', () => {
    const pages = [...Map.groupBy(BLOCKS.filter(isShellTest), ({ page }) => page)]
    const pythonPages = [...Map.groupBy(BLOCKS.filter(isPythonTest), ({ page }) => page)]
    const programs = BLOCKS.filter(isProgramTest).map((block) => [`${block.page}:${block.line}`, block] as const)
    let server: Served
    let client: BuiltClient | undefined
    beforeAll(async () => {
      server = await serve()
      if (noPython === null) client = buildClient(python)
    })
    afterAll(async () => {
      await server?.stop()
      if (client) rmSync(client.folder, { recursive: true })
    })

    // A page is many programs that start one after the other.
    test.skipIf(noShell).each(pages)(`%s${noShell ?? ''}`, { timeout: 600_000 }, (page, blocks) => {
      expect(shellErrors(blocks, server), page).toBe('')
    })

    test.skipIf(noPython).each(pythonPages)(`%s${noPython ?? ''}`, { timeout: 120_000 }, (_, blocks) => {
      expect(pythonErrors(blocks, server, client!.installed)).toBe('')
    })

    test.each(programs)('%s', (_, block) => {
      expect(programErrors(block, server)).toBe('')
    })
  })

  test('every source file that a page about the design names is there', () => {
    const files = globSync(
      ['bench/**/*.ts', 'build/**/*.ts', 'packages/*/*.js', 'packages/*/src/**/*.ts', 'test/**/*.ts'],
      {
        cwd: ROOT,
        exclude: (path) => path.includes('node_modules'),
      },
    ).map((file) => `/${file.replace('/src/', '/')}`)
    const names = PAGES.filter((page) => page.startsWith('docs/design/')).flatMap((page) =>
      [...read(page).matchAll(/[\w./-]*[\w-]\.[jt]s\b/g)].map(([name]) => name.replace('/src/', '/')),
    )

    expect(names.length).toBeGreaterThan(60)
    expect([...new Set(names)].filter((name) => !files.some((file) => file.endsWith(`/${name}`)))).toEqual([])
  })

  test('every link to a file leads to one', () => {
    const dead = PAGES.flatMap((page) => links(page).filter((link) => !existsSync(join(ROOT, dirname(page), link))))

    expect(dead).toEqual([])
  })
})

describe('judging a block', () => {
  const typescript = (code: string): Block => ({ page: 'x.md', line: 1, language: 'ts', marks: [], code })
  const shell = (code: string): Block => ({ page: 'x.md', line: 1, language: 'sh', marks: ['test'], code })
  const nowhere = { url: 'http://127.0.0.1:9', rootKey: 'tb_x', stop: async () => {} }

  test('a block knows its page, line, language and marks', () => {
    expect(readBlocks('x.md', '# Title\n\n```sh test\nls\n```\n\n```\nplain\n```\n')).toEqual([
      { page: 'x.md', line: 3, language: 'sh', marks: ['test'], code: 'ls\n' },
      { page: 'x.md', line: 7, language: '', marks: [], code: 'plain\n' },
    ])
  })

  test('TypeScript that does not compile is reported with its page and line', () => {
    expect(typeErrors([typescript("export const ada: number = 'Ada'")])).toContain('x-md-line-1.ts')
  })

  test('TypeScript that compiles is passed', () => {
    expect(typeErrors([typescript("export const ada: string = 'Ada'")])).toBe('')
  })

  test('a shell block that fails in the middle fails', () => {
    expect(shellErrors([shell('false | cat\ntrue')], nowhere)).toContain('exit 1')
  })

  test('programs that a failed page has started are not waited for', () => {
    expect(shellErrors([shell('sleep 300 & false')], nowhere)).toContain('exit 1')
  })

  test('a program that fails fails', () => {
    expect(programErrors(typescript("throw new Error('no')"), nowhere)).toContain('Error: no')
    expect(programErrors(typescript('process.env.TILDE_KEY!.length'), nowhere)).toBe('')
  })

  test.skipIf('missing' in findPython())('a Python program that fails fails', { timeout: 120_000 }, () => {
    const python = (code: string): Block => ({ ...shell(code), language: 'python' })
    expect(pythonErrors([python('a = 1'), python('a / 0')], nowhere, '')).toContain('ZeroDivisionError')
    expect(pythonErrors([python('a = 1')], nowhere, '')).toBe('')
  })

  test('the shell blocks of a page share their variables and know the server', () => {
    expect(shellErrors([shell('a=$TILDE_URL'), shell('test "$a" = http://127.0.0.1:9')], nowhere)).toBe('')
  })
})

function read(page: string): string {
  return readFileSync(join(ROOT, page), 'utf8')
}

function isProgramTest({ language, marks }: Block): boolean {
  return language === 'ts' && marks.includes('test')
}

function isPythonTest({ language, marks }: Block): boolean {
  return language === 'python' && marks.includes('test')
}

function isShellTest({ language, marks }: Block): boolean {
  return language === 'sh' && marks.includes('test')
}

/** The targets of a page's links that lead to files, without their anchors. Code is not a link. */
function links(page: string): readonly string[] {
  return [
    ...read(page)
      .replaceAll(/`[^`\n]+`/g, '')
      .matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g),
  ]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
}
