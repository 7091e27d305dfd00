import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { type TestApp, testApp } from '../../host.ts'
import { whyNot } from '../../needs.ts'
import { installWithApt } from '../../prepare/apt.ts'
import { verifies } from '../../verifies.ts'

/** Where Debian puts the sources of Go packages. */
const SOURCES = '/usr/share/gocode'
const EVENTS = 33

interface Head {
  readonly key: string
  readonly checkpoint: string
}

interface Question {
  readonly head: Head
  readonly leaf?: string
  readonly index?: number
  readonly earlier?: Head
  readonly proof?: readonly string[]
}

/** Why it cannot run here; null when it can. It installs what it needs, where that is allowed. */
function missing(): string | null {
  const has = () => whyNot('go') === null && existsSync(join(SOURCES, 'src/golang.org/x/mod/sumdb'))
  return has() || (installWithApt(['golang-go', 'golang-golang-x-mod-dev']) && has()) ? null : ': Go is not installed'
}

const reason = missing()

describe.skipIf(reason !== null)(`the Go packages for signed notes and transparency logs${reason ?? ''}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'tildebase-judge-'))
  const program = join(folder, 'judge')
  let app: TestApp
  beforeAll(async () => {
    const env = { ...process.env, GO111MODULE: 'off', GOPATH: SOURCES, GOCACHE: join(folder, 'cache') }
    execFileSync('go', ['build', '-o', program, join(import.meta.dirname, 'main.go')], { env })
    app = await testApp({ TILDE_BASE_URL: 'https://tilde.example' })
  })
  afterAll(async () => {
    await app?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const judged = (questions: readonly Question[]): string[] =>
    JSON.parse(execFileSync(program, { input: JSON.stringify(questions), encoding: 'utf8' }))
  const get = async (path: string) => (await app.request('GET', `/~judged${path}`)).body

  /** A log that grows event by event: its checkpoint at each size. */
  async function heads(): Promise<Head[]> {
    const all: Head[] = []
    for (let i = 0; i < EVENTS; i++) {
      await app.request('POST', '/~judged/Contact', { name: `Person ${i}` })
      const { body } = await app.request('GET', '/~judged/checkpoint', undefined, { accept: 'application/json' })
      all.push({ key: body.key, checkpoint: body.note })
    }
    return all
  }

  verifies(
    ['proof.tree', 'proof.checkpoint', 'proof.inclusion', 'proof.consistency'],
    'accept each checkpoint, each event in each later log, and each log as the beginning of each later one; nothing else',
    async () => {
      const all = await heads()
      const right: Question[] = all.map((head) => ({ head }))
      for (const [i, head] of all.entries()) {
        for (let index = 0; index <= i; index++) {
          const { leaf, proof } = await get(`/proof/${index + 1}?size=${i + 1}`)
          right.push({ head, leaf, index, proof })
        }
        for (let from = 0; from <= i; from++) {
          const { proof } = await get(`/consistency?from=${from + 1}&to=${i + 1}`)
          right.push({ head, earlier: all[from]!, proof })
        }
      }
      const wrong = right.flatMap(forged)

      const [accepted, refused] = [judged(right), judged(wrong)]

      expect(right.filter((_, i) => accepted[i] !== '')).toEqual([])
      expect(wrong.filter((_, i) => refused[i] === '')).toEqual([])
      expect([right.length, wrong.length].every((count) => count > 1_000)).toBe(true)
    },
  )

  /** The same question with one thing changed. */
  function forged(question: Question): Question[] {
    const { head, index, proof = [] } = question
    const signed = { ...question, head: { ...head, checkpoint: head.checkpoint.replace(/\n(\d+)\n/, '\n1$1\n') } }
    const ofAnother = { ...question, head: { ...head, checkpoint: head.checkpoint.replace('~judged', '~forged') } }
    const changed = proof.map((_, at) => ({
      ...question,
      proof: proof.with(at, Buffer.alloc(32, at).toString('base64')),
    }))
    const shorter = proof.length > 0 ? [{ ...question, proof: proof.slice(1) }] : []
    const moved = index !== undefined && proof.length > 0 ? [{ ...question, index: index === 0 ? 1 : index - 1 }] : []
    return [signed, ofAnother, ...changed, ...shorter, ...moved]
  }
})
