import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { openSmtp, type TestSmtp } from './smtp.ts'

const PASSWORD = 'a long enough password'
let smtp: TestSmtp
let host: TestHost

beforeAll(async () => {
  smtp = await openSmtp()
  host = await testHost({
    TILDE_SMTP_URL: smtp.url,
    TILDE_SMTP_FROM: 'service@example.org',
    TILDE_WEBHOOKS_INSECURE: '1',
  })
})

afterAll(async () => {
  await host.stop()
  await smtp.close()
})

type Person = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: any }>

/** The token of the link in the newest e-mail to a person. */
async function tokenFor(email: string, before: number): Promise<string> {
  for (let i = 0; i < 500; i++) {
    const mail = smtp.delivered.slice(before).find(({ to }) => to.includes(email))
    const token = mail && /\/invitation#(tbi_[A-Za-z0-9]+~[a-z0-9-]+)/.exec(mail.mail.text ?? '')?.[1]
    if (token) return token
    await new Promise((done) => setTimeout(done, 10))
  }
  throw new Error(`No e-mail for ${email}.`)
}

async function accept(root: string, token: string, password = PASSWORD): Promise<Person> {
  const accepted = await fetch(`${host.url}${root}/invitation/accept`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token, password }),
  })
  expect(accepted.status).toBe(201)
  const { csrf } = (await accepted.json()) as { csrf: string }
  const cookie = accepted.headers.get('set-cookie')!.split(';', 1)[0]!
  return async (method, path, body) => {
    const answer = await fetch(`${host.url}${root}${path}`, {
      method,
      headers: { cookie, 'x-tilde-csrf': csrf, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return { status: answer.status, body: await answer.json().catch(() => null) }
  }
}

async function invite(
  root: string,
  name: string,
  role = 'Member',
): Promise<{ id: string; person: Person; answer: any }> {
  const before = smtp.delivered.length
  const email = `${name.toLowerCase()}@people.example`
  const { body } = await host.request('POST', `${root}/User`, { name, email, role })
  const answer = (await host.request('POST', `${root}/User/${body.$id}/invite`, {})).body
  return { id: body.$id, answer, person: await accept(root, await tokenFor(email, before)) }
}

verifies('mail.invitation', 'an invitation is sent by e-mail, and its link is in no answer', async () => {
  const { answer, person } = await invite('/~invited', 'Ada')

  expect(answer).toMatchObject({ sent: true, status: 'Invited' })
  expect(answer.invitation).toBeUndefined()
  expect((await person('GET', '/session')).body.user.name).toBe('Ada')
})

verifies('mail.reset', 'a link for a new password is sent; the answer is the same for every address', async () => {
  const root = '/~forgetful'
  const { person } = await invite(root, 'Bo')
  const before = smtp.delivered.length
  const ask = (email: string) => host.as('')('POST', `${root}/session/reset`, { email })

  const [known, unknown] = [await ask('bo@people.example'), await ask('unknown@people.example')]

  expect([known.status, known.body]).toEqual([unknown.status, unknown.body])
  expect(known.status).toBe(202)
  const again = await accept(root, await tokenFor('bo@people.example', before), 'another long password')
  expect((await again('GET', '/session')).body.user.name).toBe('Bo')
  expect((await person('GET', '/session')).status).toBe(401)
  const old = await host.as('')('POST', `${root}/session`, { email: 'bo@people.example', password: PASSWORD })
  expect(old.status).toBe(401)
  expect(smtp.delivered.slice(before)).toHaveLength(1)
})

verifies('mail.reset.host', 'the link has the address of the service, whatever Host was asked', async () => {
  const root = '/~phished'
  await invite(root, 'Eve')
  const before = smtp.delivered.length
  const { port } = new URL(host.url)
  const body = JSON.stringify({ email: 'eve@people.example' })
  const status = await new Promise<number>((done, failed) => {
    const headers = { host: 'evil.example', 'content-type': 'application/json', 'content-length': body.length }
    const sent = request({ port, method: 'POST', path: `${root}/session/reset`, headers }, (answer) => {
      answer.resume()
      done(answer.statusCode!)
    })
    sent.on('error', failed).end(body)
  })
  await tokenFor('eve@people.example', before)

  expect(status).toBe(202)
  const [{ mail }] = smtp.delivered.slice(before) as [TestSmtp['delivered'][number]]
  expect(`${mail.text}${mail.html}`).not.toContain('evil.example')
  expect(mail.text).toContain(`${host.url}${root}/invitation#`)
})

verifies('mail.notices', 'people get notices of what concerns them, as they choose', async () => {
  const root = '/~told'
  const cy = await invite(root, 'Cy')
  const di = await invite(root, 'Di')
  await di.person('PUT', '/account/notifications', { assigned: 'never' })
  expect((await di.person('GET', '/account/notifications')).body).toEqual({
    assigned: 'never',
    mentioned: 'now',
    ask: 'now',
    changeset: 'now',
  })
  expect((await di.person('PUT', '/account/notifications', { assigned: 'often' })).status).toBe(422)
  const before = smtp.delivered.length

  for (const { id } of [cy, di]) await host.request('POST', `${root}/Ticket`, { subject: 'Help', assignee: id })
  await host.request('POST', `${root}/Comment`, { body: 'What do you think, @Cy?' })

  const mails = await smtp.until(before + 1)
  for (let i = 0; i < 200 && !texts(before).includes('mentioned'); i++)
    await new Promise((done) => setTimeout(done, 10))
  expect(mails.slice(before).flatMap(({ to }) => to)).not.toContain('di@people.example')
  expect(texts(before)).toContain('assigned the Ticket Help to you')
  expect(texts(before)).toContain('mentioned you: What do you think')
  const { body } = await cy.person('GET', '/account/inbox')
  expect(body).toMatchObject({ unread: 2, results: [{ kind: 'mentioned' }, { kind: 'assigned', type: 'Ticket' }] })
  await cy.person('PUT', '/account/inbox', { read: body.results[0].id })
  expect((await cy.person('GET', '/account/inbox')).body.unread).toBe(0)
  expect((await di.person('GET', '/account/inbox')).body.results).toMatchObject([{ kind: 'assigned' }])
})

test('a question goes to the people of its role, who alone answer it', async () => {
  const root = '/~asked'
  const ed = await invite(root, 'Ed', 'Admin')
  const flo = await invite(root, 'Flo')
  const before = smtp.delivered.length
  const { body } = await host.request('POST', `${root}/Workflow`, {
    name: 'w',
    triggerEvent: 'Contact.created',
    steps: [{ ask: { of: 'role:Admin', title: 'Pay 100?' } }],
  })
  await host.request('POST', `${root}/Workflow/${body.$id}/activate`, {})

  await host.request('POST', `${root}/Contact`, { name: 'x' })

  await smtp.until(before + 1)
  expect(smtp.delivered.slice(before)).toMatchObject([
    { to: ['ed@people.example'], mail: { subject: 'Question: Pay 100?' } },
  ])
  expect((await flo.person('GET', '/asks')).body.results).toEqual([])
  const [ask] = (await ed.person('GET', '/asks')).body.results
  expect((await ed.person('POST', `/asks/${ask.id}/answer`, { answer: 'Approved' })).status).toBe(200)
})

function texts(from: number): string {
  return smtp.delivered
    .slice(from)
    .map(({ mail }) => mail.text)
    .join('\n')
}
