import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestHost, testHost } from './host.ts'

/** A part of the document, with where it is. */
interface Part {
  readonly at: string
  readonly part: any
}

let host: TestHost
let operations: Part[]
let parameters: Part[]
let bodies: Part[]
beforeAll(async () => {
  host = await testHost()
  await host.request('PUT', '/~acme/schema/Gadget', { name: 'string!', size: 'number', paint: { args: ['colour'] } })
  const document = (await host.request('GET', '/~acme/openapi.json')).body
  const resolved = (part: any): any =>
    part.$ref
      ? part.$ref
          .split('/')
          .slice(1)
          .reduce((at: any, step: string) => at[step], document)
      : part
  operations = Object.entries<any>(document.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, part]) => ({ at: `${method.toUpperCase()} ${path}`, part })),
  )
  parameters = operations.flatMap(({ at, part }) =>
    (part.parameters ?? []).map((one: any) => ({ at: `${at} ${resolved(one).name}`, part: resolved(one) })),
  )
  bodies = operations.filter(({ part }) => part.requestBody).map(({ at, part }) => ({ at, part: part.requestBody }))
})
afterAll(() => host.stop())

const SENTENCE = /^\S[\s\S]*\.$/
const whereNot = (parts: readonly Part[], holds: (part: any) => boolean) =>
  parts.filter(({ part }) => !holds(part)).map(({ at }) => at)

describe('in the OpenAPI document', () => {
  test('every operation has a summary, a description of whole sentences, and what it needs', () => {
    expect(operations.length).toBeGreaterThan(600)
    expect(whereNot(operations, ({ summary }) => summary?.length > 2)).toEqual([])
    expect(whereNot(operations, ({ description }) => SENTENCE.test(description ?? ''))).toEqual([])
  })

  test('no two operations of one path have the same description', () => {
    const same = [...Map.groupBy(operations, ({ at, part }) => `${at.split(' ')[1]} ${part.description}`).values()]
      .filter((group) => group.length > 1)
      .map((group) => group.map(({ at }) => at))

    // PATCH is PUT.
    expect(same.filter((group) => !group.some((at) => at.startsWith('PATCH')))).toEqual([])
  })

  test('every parameter has a description, a schema and an example', () => {
    expect(parameters.length).toBeGreaterThan(2_000)
    expect(whereNot(parameters, ({ description }) => SENTENCE.test(description ?? ''))).toEqual([])
    expect(whereNot(parameters, ({ schema }) => schema !== undefined)).toEqual([])
    expect(whereNot(parameters, ({ example }) => example !== undefined)).toEqual([])
  })

  test('every body has a description, and an example for each kind of content', () => {
    expect(bodies.length).toBeGreaterThan(200)
    expect(whereNot(bodies, ({ description }) => SENTENCE.test(description ?? ''))).toEqual([])
    expect(
      whereNot(bodies, ({ content }) => Object.values<any>(content).every(({ example }) => example !== undefined)),
    ).toEqual([])
  })

  test('every write below the tenant that takes JSON describes its body', () => {
    const writes = operations.filter(({ at }) => /^(?:PUT|PATCH) /.test(at))

    expect(whereNot(writes, ({ requestBody }) => requestBody !== undefined)).toEqual([])
  })
})
