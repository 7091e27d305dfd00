import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Problem, type Tildebase, tildebase } from '@tildebase/client'
import type { NounMap } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT, type TestHost, testHost } from '../host.ts'

/** One call of a client. `{name.path}` in its arguments is a value that an earlier step saved. */
interface Step {
  readonly do: string
  readonly args: readonly any[]
  readonly save?: string
  /** What the answer must hold, at least. Lists have exactly these elements. */
  readonly expect?: unknown
  readonly size?: number
  readonly fails?: object
  /** How many elements of an endless answer to take. */
  readonly take?: number
  /** Another API key than that of the operator. */
  readonly key?: string
  readonly wait?: number
}

const SCENARIOS: readonly { title: string; steps: readonly Step[] }[] = JSON.parse(
  readFileSync(join(import.meta.dirname, 'scenarios.json'), 'utf8'),
)

let host: TestHost
beforeAll(async () => {
  host = await testHost()
})
afterAll(() => host.stop())

describe('the scenarios that every client passes', () => {
  test.each(SCENARIOS.map(({ title, steps }, index) => [title, steps, index] as const))(
    '%s',
    async (_, steps, index) => {
      const saved: { [name: string]: any } = {}
      for (const step of steps) {
        const apiKey = filled(step.key ?? ROOT, saved) as string
        await run(tildebase<NounMap>({ tenant: `scenario${index}`, apiKey, baseUrl: host.url }), step, saved)
      }
    },
  )
})

async function run($: Tildebase<NounMap>, step: Step, saved: { [name: string]: any }): Promise<void> {
  if (step.wait !== undefined) return new Promise((done) => setTimeout(done, step.wait))
  const fill = (value: unknown) => filled(value, saved)
  const answer = await call($, step, step.args.map(fill) as any[]).catch((reason: unknown) => reason)
  if (step.fails) return expect(answer).toMatchObject(fill(step.fails) as object)
  if (answer instanceof Problem) throw answer
  if (step.save) saved[step.save] = answer
  if (step.size !== undefined) expect(answer).toHaveLength(step.size)
  if (step.expect === null || typeof step.expect === 'number') expect(answer).toBe(step.expect)
  else if (step.expect !== undefined) expect(answer).toMatchObject(fill(step.expect) as object)
}

async function call($: Tildebase<NounMap>, { do: name, take }: Step, args: any[]): Promise<any> {
  if (name === 'batch') return batch($, args[0], args[1])
  if (name === 'propose') {
    const work = async (proposing: any) => {
      for (const [type, verb, ...rest] of args[1]) await proposing[type][verb](...rest)
    }
    return $.propose(args[0], work)
  }
  const [owner, method] = name.split('.') as [string, string | undefined]
  const target: any = method === undefined ? $ : ($ as any)[owner]
  const answer = target[method ?? owner](...args)
  return Symbol.asyncIterator in answer ? taken(answer, take ?? Number.POSITIVE_INFINITY) : answer
}

async function batch($: Tildebase<NounMap>, steps: any[][], options: object): Promise<object> {
  const made: { [name: string]: any } = {}
  const done = await $.batch((b: any) => {
    for (const [name, type, verb, ...args] of steps) {
      const refs = args.map((one) => withRefs(one, made))
      made[name as string] = b[type as string][verb as string](...refs)
    }
  }, options)
  const results = Object.entries(made).map(([name, step]) => [name, done.of(step)])
  return { ...Object.fromEntries(results), correlation: done.correlation }
}

/** `{step, path}` as the reference to the result of a step. */
function withRefs(value: any, made: { [name: string]: any }): any {
  if (typeof value !== 'object' || value === null) return value
  if ('step' in value) return made[value.step][value.path]
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withRefs(one, made)]))
}

async function taken<T>(items: AsyncIterable<T>, most: number): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) if (list.push(item) >= most) break
  return list
}

function filled(value: unknown, saved: { [name: string]: any }): unknown {
  if (Array.isArray(value)) return value.map((one) => filled(one, saved))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, saved)]))
  const [, path] = typeof value === 'string' ? (/^\{([\w.$]+)\}$/.exec(value) ?? []) : []
  return path === undefined ? value : path.split('.').reduce((part, name) => part[name], saved as any)
}
