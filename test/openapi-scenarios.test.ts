import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from './host.ts'
import { type Stage, stageAt } from './hosts/ask.ts'
import { FAST } from './hosts/play.ts'
import { SCENARIOS } from './hosts/scenarios.ts'
import { type Exchange, Judge } from './openapi-judge.ts'

let host: TestHost

beforeAll(async () => {
  host = await testHost(FAST, { workers: '0' })
})
afterAll(() => host.stop())

test.each(Object.entries(SCENARIOS))('no answer differs from the OpenAPI document: %s', async (title, play) => {
  const at = `/~judged-${Object.keys(SCENARIOS).indexOf(title)}`
  const exchanges: Exchange[] = []

  await play(
    watched(
      stageAt(() => host.url),
      at,
      exchanges,
    ),
    at,
  )

  const { body: document } = await host.request('GET', `${at}/openapi.json`)
  const names = new Map<string, string>()
  for (const { name, path } of (await host.request('GET', `${at}/schema`)).body.types) names.set(path, name)
  const judge = new Judge(document)
  const differences = exchanges.map((one) => judge.difference({ ...one, path: named(one.path, names) }))
  expect(differences.filter((one) => one !== null)).toEqual([])
})

/** A stage that writes down what is asked below a tenant, and what is answered. */
function watched(stage: Stage, at: string, exchanges: Exchange[]): Stage {
  const as =
    (send: Stage['request']): Stage['request'] =>
    async (method, path, ...more) => {
      const reply = await send(method, path, ...more)
      const { pathname } = new URL(path, 'http://localhost')
      if (pathname.startsWith(`${at}/`)) exchanges.push({ method, path: pathname.slice(at.length), reply })
      return reply
    }
  return {
    get url() {
      return stage.url
    },
    request: as(stage.request),
    as: (key) => as(stage.as(key)),
  }
}

/** Every type is also available at its plural path; the document has its name. */
function named(path: string, names: ReadonlyMap<string, string>): string {
  const [, first = '', ...rest] = path.split('/')
  const isOther = first === 'events' || first === 'metrics'
  return isOther ? path : ['', names.get(first) ?? first, ...rest].join('/')
}
