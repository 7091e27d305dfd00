import { once } from 'node:events'
import { appendFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freePort } from '../cluster/short/postgres.ts'
import { readBlocks } from '../docs.ts'
import { type Kind, type Machine, makeMachine, whyNot } from './machine.ts'

/** The commands of a page. */
const commandsOf = (page: string) =>
  readBlocks(page, readFileSync(join(import.meta.dirname, '..', '..', page), 'utf8'))
    .filter(({ language }) => language === 'sh')
    .map(({ code }) => code.trim())
/** Both commands of the README. */
const START = commandsOf('README.md').at(0)!
const TEST = commandsOf('README.md').at(-1)!
/** Each Node with the npm that it comes with. */
const NODES = [
  { node: '20.20.2', npm: '10.8.2' },
  { node: '22.23.3', npm: '10.9.4' },
  { node: '24.21.0', npm: '11.6.2' },
  { node: '26.10.0', npm: '11.19.1' },
]
const KINDS: readonly Kind[] = [
  ...(['bookworm', 'trixie'] as const).flatMap((debian) =>
    NODES.map((node) => ({ debian, ...node, user: 'named' as const })),
  ),
  { debian: 'bookworm', ...NODES[0]!, user: 'nameless' },
  { debian: 'trixie', ...NODES[1]!, user: 'nameless' },
]
/** Tests of the engine, of PostgreSQL and of a browser; `TILDE_BARE=all` runs the whole of the second command. */
const SOME = 'packages/nouns/src test/start.test.ts test/cluster/short/tables.test.ts test/docs-page.test.ts'
const TEST_SOME = process.env.TILDE_BARE === 'all' ? TEST : `${TEST} -- ${SOME}`
const HOUR = 3_600_000

test('the page for the start has the command of the README', () => {
  expect(commandsOf('docs/start.md')).toContain(START)
})

// Without libatomic1, python3, a browser, a database and the rights to install them.
describe.skipIf(whyNot() !== null).each(KINDS)('$debian, Node $node, npm $npm, a $user user', (kind) => {
  let machine: Machine
  beforeAll(() => {
    machine = makeMachine(kind)
  }, HOUR)
  afterAll(() => machine.remove(), HOUR)

  test(`${START} serves the console`, { timeout: HOUR }, async () => {
    const { page, seconds } = await startUntilItAnswers(machine)

    expect(page).toContain('<title>')
    record(kind, START, seconds)
  })

  test(`${TEST} passes`, { timeout: HOUR }, async () => {
    const { status, text, seconds } = await machine.run(TEST_SOME)

    expect(text.match(/^failed: .*/gm)).toBe(null)
    expect(text).toMatch(/^\d+ passed, 0 failed/m)
    expect(status).toBe(0)
    record(kind, TEST_SOME, seconds)
  })
})

/** Runs the first command until the console answers, and ends it. */
async function startUntilItAnswers(machine: Machine) {
  const begun = performance.now()
  const port = await freePort()
  const child = machine.start(START, { TILDE_PORT: String(port) })
  let text = ''
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (text += chunk))
  const ended = once(child, 'close')
  const page = await Promise.race([consoleAt(`http://127.0.0.1:${port}/console/`), ended.then(() => null)])
  if (page === null) throw new Error(`It ended before it answered:\n${text}`)
  await machine.stop(child)
  return { page, seconds: Math.round((performance.now() - begun) / 1_000) }
}

async function consoleAt(url: string): Promise<string> {
  for (;;) {
    const answer = await fetch(url).catch(() => null)
    if (answer?.ok) return answer.text()
    await new Promise((done) => setTimeout(done, 200))
  }
}

/** A row for the table in docs/notes/reliability.md. */
function record({ debian, node, npm, user }: Kind, command: string, seconds: number): void {
  const row = `| ${debian} | ${node} | ${npm} | ${user} | ${command} | ${seconds} s |\n`
  appendFileSync(join(import.meta.dirname, '../../.tmp/bare/times.md'), row)
}
