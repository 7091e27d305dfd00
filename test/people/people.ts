import { expect } from 'vitest'
import type { Reply, TestApp } from '../host.ts'

export const PASSWORD = 'correct horse battery'

/** A browser's session with a tenant: it keeps its cookie, and sends the token that writes need. */
export interface Browser {
  readonly user: any
  readonly cookie: string
  readonly csrf: string
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
}

/** Creates a person, invites them, and accepts the invitation with a password. */
export async function person(app: TestApp, tenant: string, fields: Record<string, unknown>): Promise<Browser> {
  const token = await invite(app, tenant, fields)
  const reply = await app.as('')('POST', `/~${tenant}/invitation/accept`, { token, password: PASSWORD })
  expect(reply.status, reply.text).toBe(201)
  return browser(app, reply)
}

/** Creates a person and invites them. Returns the token of the invitation. */
export async function invite(app: TestApp, tenant: string, fields: Record<string, unknown>): Promise<string> {
  const { body: user } = await app.request('POST', `/~${tenant}/User`, { name: 'Ada', ...fields })
  const { body, text } = await app.request('POST', `/~${tenant}/User/${user.$id}/invite`)
  expect(body.invitation, text).toMatch(/\/invitation#tbi_/)
  return body.invitation.split('#')[1]
}

export async function signIn(app: TestApp, tenant: string, email: string, password = PASSWORD): Promise<Browser> {
  const reply = await app.as('')('POST', `/~${tenant}/session`, { email, password })
  expect(reply.status, reply.text).toBe(201)
  return browser(app, reply)
}

function browser(app: TestApp, { headers, body }: Reply): Browser {
  const cookie = headers.get('set-cookie')!.split(';')[0]!
  return {
    user: body.user,
    cookie,
    csrf: body.csrf,
    send: (method, path, sent, more = {}) =>
      app.as('')(method, path, sent, {
        cookie,
        ...(method !== 'GET' && { 'x-tilde-csrf': body.csrf }),
        ...more,
      }),
  }
}
