import { expect } from 'vitest'
import { type Reply, type TestHost, testHost } from '../host.ts'

export interface HookHost {
  readonly host: TestHost
  /** Its own tenant with these hooks. */
  tenantWith(hooks: { [step: string]: string }): Promise<{
    readonly tenant: string
    request(method: string, path: string, body?: unknown): Promise<Reply>
  }>
}

/** A host whose tenants come with stored hooks. */
export async function hookHost(): Promise<HookHost> {
  const host = await testHost()
  let tenants = 0
  return {
    host,
    async tenantWith(hooks) {
      const tenant = `t${++tenants}`
      const request = (method: string, path: string, body?: unknown): Promise<Reply> =>
        host.request(method, `/~${tenant}${path}`, body)
      for (const [step, code] of Object.entries(hooks)) {
        const [type, name] = step.split('.')
        const { status, body } = await request('PUT', `/schema/${type}/hooks/${name}`, { code })
        expect([status, body.message]).toEqual([201, undefined])
      }
      return { tenant, request }
    },
  }
}
