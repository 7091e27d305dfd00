import { afterAll, beforeAll, expect } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

/** A service for the tests of a file, with types and entities of the tenant `acme`. */
export function useTypes() {
  let host: TestApp
  let count = 0
  beforeAll(async () => {
    host = await testApp()
  })
  afterAll(() => host.stop())
  const sent = (...args: Parameters<TestApp['request']>) => host.request(...args)
  return {
    get host() {
      return host
    },
    sent,
    /** Declares a type of the test's own, and returns its name. */
    async declared(notation: object): Promise<string> {
      const type = `Thing${++count}`
      const { status, body } = await sent('PUT', `/~acme/schema/${type}`, notation)
      expect([status, body.message]).toEqual([201, undefined])
      return type
    },
    /** Creates an entity, and returns its id. */
    async made(type: string, fields: object): Promise<string> {
      const { status, body } = await sent('POST', `/~acme/${type}`, fields)
      expect([status, body.message]).toEqual([201, undefined])
      return body.$id
    },
  }
}
