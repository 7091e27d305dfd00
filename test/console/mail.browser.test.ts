import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openSmtp, type TestSmtp } from '../mail/smtp.ts'
import { BROWSER } from './browser.ts'
import { type OpenStage, openStage } from './stage.ts'

const DESK = 'desk@acme.example'

describe.skipIf(BROWSER === null)('e-mail in the console', () => {
  let smtp: TestSmtp
  let stage: OpenStage

  beforeAll(async () => {
    smtp = await openSmtp()
    stage = await openStage({}, { TILDE_SMTP_URL: smtp.url, TILDE_SMTP_FROM: DESK })
  })
  afterEach(async () => expect(await stage.browser.closeTabs()).toEqual([]))
  afterAll(async () => {
    await stage?.stop()
    await smtp?.close()
  })

  const make = async (type: string, fields: object) =>
    (await stage.host.request('POST', `/~acme/${type}`, fields)).body as { $id: string }
  const receive = (raw: string) =>
    stage.host.request('POST', '/~acme/inbox/email', raw, { 'content-type': 'message/rfc822' })

  test('a letter to a contact is sent and is in the thread, with what came back and an answer to it', async () => {
    const { $id } = await make('Contact', { name: 'Lettie', email: 'lettie@example.org' })
    const { page } = await stage.enter(`Contact/${$id}`)
    const thread = page.getByRole('region', { name: 'E-mail' })
    const dialog = page.getByRole('dialog')
    const before = smtp.delivered.length

    await thread.getByRole('button', { name: 'Write an e-mail' }).click()
    expect(await dialog.getByLabel('To').inputValue()).toBe('lettie@example.org')
    await dialog.getByLabel('Subject').fill('The offer')
    await dialog.getByLabel('Text').fill('Here is the **offer**.')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await page.getByText('The message is being sent.').waitFor()
    await thread.getByRole('link', { name: 'The offer' }).waitFor()
    const { to, mail } = (await smtp.until(before + 1)).at(-1)!
    await thread.getByText('Delivered').waitFor()
    await receive(
      `From: Lettie <lettie@example.org>\r\nTo: ${DESK}\r\nSubject: A question\r\nMessage-ID: <q@example.org>\r\n\r\nHow much?`,
    )
    await thread.getByText('How much?').waitFor()
    await thread.getByRole('button', { name: 'Answer' }).click()
    expect(await dialog.getByLabel('Subject').inputValue()).toBe('Re: A question')
    await dialog.getByLabel('Text').fill('Five.')
    await dialog.getByRole('button', { name: 'Send' }).click()
    const answer = (await smtp.until(before + 2)).at(-1)!.mail

    expect([to, mail.subject, mail.text?.trim()]).toEqual([
      ['lettie@example.org'],
      'The offer',
      'Here is the **offer**.',
    ])
    expect([answer.subject, answer.inReplyTo]).toEqual(['Re: A question', '<q@example.org>'])
    await thread.getByRole('link', { name: 'Re: A question' }).waitFor()
    expect(await thread.locator('li p').allTextContents()).toEqual(['Five.', 'How much?', 'Here is the **offer**.'])
  })

  test('an answer in a ticket goes to who asked, and is in its thread', async () => {
    const contact = await make('Contact', { name: 'Tilly', email: 'tilly@example.org' })
    const { $id } = await make('Ticket', { subject: 'Broken', requester: contact.$id })
    const { page } = await stage.enter(`Ticket/${$id}`)
    const thread = page.getByRole('region', { name: 'E-mail' })
    const before = smtp.delivered.length

    await thread.getByRole('button', { name: 'Write an answer' }).click()
    await page.getByRole('dialog').getByLabel('Text').fill('We mend it.')
    await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
    await thread.getByText('We mend it.').waitFor()

    const { to, mail } = (await smtp.until(before + 1)).at(-1)!
    expect([to, mail.subject]).toEqual([['tilly@example.org'], 'Re: Broken'])
  })

  test('a letter that cannot be sent says why, leaves nothing behind, and is kept over a reload', async () => {
    const { $id } = await make('Contact', { name: 'Nora', email: 'nora@example.org' })
    const key = await stage.host.key('acme', 'admin:all')
    const { page } = await stage.enter(`Contact/${$id}`, { key })
    const dialog = page.getByRole('dialog')
    const count = async () => (await stage.host.request('GET', '/~acme/Message/count')).body.count
    const before = await count()

    await page.getByRole('button', { name: 'Write an e-mail' }).click()
    await dialog.getByLabel('To').fill('ada')
    await dialog.getByLabel('Subject').fill('To Ada')
    await dialog.getByLabel('Text').fill('Hello')
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('“ada” is not an e-mail address.').waitFor()
    await dialog.getByLabel('To').fill(Array.from({ length: 101 }, (_, n) => `n${n}@example.org`).join(', '))
    await dialog.getByRole('button', { name: 'Send' }).click()
    await dialog.getByText('may have 100 recipients').waitFor()

    expect(await count()).toBe(before)
    page.on('dialog', (one) => void one.accept())
    await page.reload()
    await page.getByLabel('Key', { exact: true }).fill(key)
    await page.getByRole('button', { name: 'Open' }).click()
    await dialog.waitFor()
    expect(await dialog.getByLabel('Subject').inputValue()).toBe('To Ada')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
  })

  test('a message that no server takes says that it waits', async () => {
    const plain = await openStage()
    try {
      const { body } = await plain.host.request('POST', '/~acme/Contact', { name: 'Wanda', email: 'wanda@example.org' })
      const { page } = await plain.enter(`Contact/${body.$id}`)

      await page.getByRole('button', { name: 'Write an e-mail' }).click()
      await page.getByRole('dialog').getByLabel('Subject').fill('Waiting')
      await page.getByRole('dialog').getByLabel('Text').fill('Hello')
      await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()

      await page.getByText('it waits: no mail server is set up').waitFor()
      await page.getByRole('region', { name: 'E-mail' }).getByText('Queued').waitFor()
    } finally {
      await plain.stop()
    }
  })
})
