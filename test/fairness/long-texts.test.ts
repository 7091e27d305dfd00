import { parseNoun } from '@tildebase/nouns'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bounceIn } from '../../packages/server/src/doors/mail/bounce.ts'
import { recipientsOf } from '../../packages/server/src/node/outbound/service-mailbox.ts'
import { declarationOf } from '../../packages/tenant/src/services/integrations/author.ts'
import { addressOf } from '../../packages/tenant/src/services/mail/address.ts'
import { htmlOf } from '../../packages/tenant/src/services/mail/markdown.ts'
import { momentFault } from '../../packages/tenant/src/services/workflows/steps/until.ts'
import { type TestApp, testApp } from '../host.ts'

/** A pattern that goes back over a text of this length for each of its letters does not end in the time of a test. */
const LONG = 1_000_000
const spaces = ' '.repeat(LONG)

describe('a long text is read once', () => {
  test('as an e-mail address, which it is not', () => {
    expect(addressOf(`a${spaces}a`)).toBeNull()
    expect(addressOf(' Ada Lovelace   <ada@example.org> ')).toBe('ada@example.org')
  })

  test('as Markdown with links that do not end', () => {
    const brackets = '['.repeat(LONG)
    const links = '[a](https://b'.repeat(LONG / 10)

    expect(htmlOf(brackets)).toBe(`<p>${brackets}</p>`)
    expect(htmlOf(links)).toBe(`<p>${links}</p>`)
    expect(htmlOf('see [a [b](https://c.example/d)')).toBe('<p>see [a <a href="https://c.example/d">b</a></p>')
  })

  test('as the moment that a step waits for', () => {
    expect(momentFault(`$event.data.dueAt${spaces}x`)).toContain('until must be a time')
    expect(momentFault('$event.data.dueAt  -  2d')).toBeNull()
  })

  test('as the address of an integration', () => {
    const address = `https://api.example${'/'.repeat(LONG)}x`

    expect(declarationOf({ provider: 'hubspot', apiBaseUrl: address })).toMatchObject({ address })
    expect(declarationOf({ provider: 'hubspot', apiBaseUrl: 'https://api.example//' })).toMatchObject({
      address: 'https://api.example',
    })
  })

  test('as the header of a message to the mailbox of the service', () => {
    expect(recipientsOf([`To: ${'a'.repeat(LONG)}`, 'Cc: Ada <ada@example.org>, bob@example.org'])).toEqual([
      'ada@example.org',
      'bob@example.org',
    ])
  })

  test('as the reason of a bounce', () => {
    const bounce = (report: string) =>
      bounceIn({
        headers: [],
        inReplyTo: '<1@example.org>',
        attachments: [{ mimeType: 'message/delivery-status', content: new TextEncoder().encode(report) }],
      } as unknown as Parameters<typeof bounceIn>[0])?.reason

    expect(bounce(`Diagnostic-Code:${'\n'.repeat(LONG)}Status: 5.1.1`)).toBe('Status 5.1.1')
    expect(bounce(`Diagnostic-Code:${spaces}`)).toBe('It could not be delivered.')
    expect(bounce('Diagnostic-Code: smtp ;  550 No such user')).toBe('550 No such user')
  })

  test('as the range of a number', () => {
    const declared = (range: string) => parseNoun('Big', { score: range }).fields.score

    expect(() => declared(`number${' '.repeat(60_000)}x`)).toThrow('score: must be')
    expect(declared('number 0 .. 100')).toMatchObject({ kind: 'number', min: 0, max: 100 })
    expect(declared('number ..100')).toMatchObject({ max: 100 })
    expect(declared('number -1.5..')).toMatchObject({ min: -1.5 })
  })
})

describe('a comment', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await testApp()
  })
  afterAll(() => app.stop())

  test('whose text has a name with a million dots is stored', async () => {
    const { body: ada } = await app.request('POST', '/~acme/User', { name: 'Ada', email: 'ada@example.org' })
    const { body: contact } = await app.request('POST', '/~acme/Contact', { name: 'Bob' })
    const comment = (body: string) => app.request('POST', '/~acme/Comment', { about: contact.$id, body })

    const { status, body } = await comment(`@Ada... and @a${'.'.repeat(LONG)}b`)

    expect([status, body.mentions]).toEqual([201, [ada.$id]])
  })
})
