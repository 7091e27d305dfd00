import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { describe, expect, test } from 'vitest'
import { ROOT } from '../host.ts'
import { hubspotFake, startFake } from '../past/fakes.ts'
import { Receiver } from '../receiver.ts'
import { BROWSER, type Tab } from './browser.ts'
import { giveKey, useStage } from './stage.ts'

const stage = useStage()

describe.skipIf(BROWSER === null)('the console', () => {
  test('events show up while they happen, wait while it is paused, and are filtered by type', async () => {
    const { page } = await stage.enter('events')
    await page.locator('.lamp.live').waitFor()
    const create = (name: string) => stage.host.request('POST', '/~acme/Ticket', { subject: name })

    await create('Printer on fire')
    await page.locator('.tail li', { hasText: 'Printer on fire' }).waitFor()
    await page.getByRole('button', { name: 'Pause' }).click()
    await create('Printer drowned')
    await page.getByRole('button', { name: 'Continue · 1 waiting' }).waitFor()
    expect(await page.getByText('Printer drowned').count()).toBe(0)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('.tail li', { hasText: 'Printer drowned' }).waitFor()
    await page.getByLabel('Type or pattern').fill('Ticket.*')

    await expect
      .poll(async () => (await page.locator('.event-title').allTextContents()).slice(0, 2))
      .toEqual(['Printer drowned', 'Printer on fire'])
    await expect
      .poll(async () => [
        ...new Set((await page.locator('.event-type').allTextContents()).map((type) => type.split('.')[0])),
      ])
      .toEqual(['Ticket'])
  })

  test('a tab in the background gives its connection up, and shows what it missed when it is looked at', async () => {
    const { page } = await stage.enter('events')
    await page.locator('.lamp.live').waitFor()
    const ended = page.waitForEvent('requestfailed', (request) => /\/events\?/.test(request.url()))
    const look = (isHidden: boolean) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)

    await look(true)
    await ended
    await stage.host.request('POST', '/~acme/Ticket', { subject: 'While the tab was hidden' })
    await look(false)

    await page.locator('.tail li', { hasText: 'While the tab was hidden' }).waitFor()
  })

  test('a webhook is created, tested, receives events, is redelivered and gets another secret', async () => {
    const receiver = await Receiver.start()
    const { page } = await stage.enter('webhooks')

    await page.getByRole('button', { name: 'New webhook' }).click()
    await page.getByLabel('URL').fill(receiver.url)
    await page.getByLabel('Events', { exact: true }).fill('Ticket.created')
    await page.getByRole('button', { name: 'Create' }).click()
    const first = await page.getByLabel('The signing secret').textContent()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Send a test' }).click()
    await page.getByText('It answered 204.').waitFor()
    await page.getByRole('button', { name: 'Edit', exact: true }).click()
    await page.getByLabel('Events', { exact: true }).fill('Ticket.creatd')
    await page.getByLabel('Name').fill('Help desk')
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('did you mean created?').waitFor()
    const alerts = await dialog.getByRole('alert').count()
    await page.getByLabel('Events', { exact: true }).fill('Ticket.created')
    const filter = page.getByLabel('Only events that meet')
    await filter.fill('{"data.subject":')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('This is not JSON yet.').waitFor()
    await expect.poll(() => filter.evaluate((field) => field === document.activeElement)).toBe(true)
    await filter.fill('{"data.subject": "Told to others"}')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Webhook saved.').waitFor()
    await stage.host.request('POST', '/~acme/Ticket', { subject: 'Kept to ourselves' })
    await stage.host.request('POST', '/~acme/Ticket', { subject: 'Told to others' })
    await expect.poll(() => receiver.requests.length).toBe(2)
    await page.getByRole('link', { name: `Help desk ${receiver.url}` }).click()
    await expect
      .poll(async () => {
        await page.getByRole('button', { name: 'Refresh' }).click()
        return page.locator('.tail .state').allTextContents()
      })
      .toEqual(['Delivered', 'Test'])
    await page.locator('.tail summary').first().click()
    await page.getByLabel('Payload').getByText('Told to others').waitFor()
    await page.getByRole('button', { name: 'Redeliver', exact: true }).click()
    await expect.poll(() => receiver.requests.length).toBe(3)
    await page.getByRole('button', { name: 'Rotate secret' }).click()
    const second = await page.getByLabel('The signing secret').textContent()

    // The input says it, and the form does not say it again.
    expect(alerts).toBe(0)
    expect(first).toMatch(/^whsec_/)
    expect(second).toMatch(/^whsec_/)
    expect(second).not.toBe(first)
    await receiver.stop()
  })

  test('a service is connected, its fields are mapped with a preview, and a run is watched and stopped', async () => {
    const at = '2025-01-01T00:00:00.000Z'
    const contacts = Array.from({ length: 60 }, (_, i) => ({
      id: String(i + 1),
      createdAt: at,
      updatedAt: at,
      propertiesWithHistory: {
        firstname: [{ value: `Ada ${i}`, timestamp: at }],
        nickname: [{ value: `Nick ${i}`, timestamp: at }],
      },
    }))
    let isSlow = true
    const fake = await startFake(
      hubspotFake({ contacts, companies: [], deals: [], tickets: [] }),
      (_, { searchParams }) => (isSlow && Number(searchParams.get('after')) >= 30 ? 'long limit' : null),
    )
    const { page } = await stage.enter('integrations', { size: { width: 390, height: 844 } })

    await page.getByRole('button', { name: 'Connect a service' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Address').fill(fake.url)
    await dialog.getByLabel('Access token').fill('wrong')
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await dialog.getByText('401').waitFor()
    await dialog.getByLabel('Access token').fill('hub-token')
    await dialog.getByRole('button', { name: 'Connect' }).click()
    await page.getByLabel('Another field of contacts').fill('nickname')
    await page.getByLabel('Another field of contacts').press('Enter')
    await page.getByLabel('Field for nickname').selectOption('phone')
    await page.getByRole('button', { name: 'Preview' }).click()
    await page.getByText('The first 5 records').click()
    await page.getByLabel('Preview of contacts').getByText('Nick 4').waitFor()
    await page.getByRole('button', { name: 'Save the fields' }).click()
    await page.getByText('is saved').waitFor()
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Reading contacts: 25 created').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('The last run failed: The run was stopped.').waitFor()
    isSlow = false
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('35 created, 0 updated, 25 unchanged').waitFor()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await dialog.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByRole('button', { name: 'Connect', exact: true }).waitFor()
    await fake.stop()

    const { body } = await stage.host.request('GET', '/~acme/Contact?$source=hubspot:contacts:7')
    expect(body.results).toMatchObject([{ name: 'Ada 6', phone: 'Nick 6' }])
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  })

  test('a key is made, shown once, works, and is revoked', async () => {
    const { page } = await stage.enter('keys')

    await page.getByRole('button', { name: 'New key' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Robot')
    await dialog.getByLabel('May').selectOption('write')
    await dialog.getByLabel('crm').check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const secret = (await page.getByLabel('The new key').textContent())!
    expect((await stage.host.as(secret)('GET', '/~acme/Contact')).status).toBe(200)
    expect((await stage.host.as(secret)('GET', '/~acme/Ticket')).status).toBe(403)
    await page.getByRole('button', { name: 'Close' }).click()
    expect(await page.content()).not.toContain(secret)
    await page.getByRole('row', { name: 'Robot' }).getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    await page.getByRole('row', { name: 'Robot' }).getByText('Revoked').waitFor()

    expect((await stage.host.as(secret)('GET', '/~acme/Contact')).status).toBe(401)
  })

  test('metrics are charts over the months, and a funnel is counted step by step', async () => {
    const { page } = await stage.enter('metrics')

    await page.getByRole('img', { name: /^MRR: Dec|^MRR: / }).waitFor()
    await page.getByRole('img', { name: /^Deals by stage: Prospecting/ }).waitFor()
    await page.getByText('100%').first().waitFor()
    await page.getByRole('button', { name: 'Count' }).click()

    await page.getByRole('img', { name: 'From visit to payment: visit 40' }).waitFor()
  })

  test('the query page answers and tells what is wrong with a question', async () => {
    const { page } = await stage.enter('query')

    await page.getByRole('button', { name: 'Large open deals' }).click()
    await page.keyboard.press('Control+Enter')
    await page
      .getByLabel('Answer', { exact: true })
      .getByRole('link', { name: 'Harbour & Sons expansion' })
      .first()
      .waitFor()
    await page.getByRole('button', { name: 'JSON' }).click()
    await page.getByLabel('Answer', { exact: true }).getByText('"$type": "Deal"').first().waitFor()
    expect(page.url()).toContain('of=Deal')
    await write(page, 'Filter', '{"value": {"$big": 1}}')
    await page.getByRole('button', { name: 'Run' }).click()

    await page.getByRole('alert').getByText('$big').waitFor()
  })

  test('code is tried without a trace, then run, then undone as a whole', async () => {
    const { page } = await stage.enter('agent')
    const count = async () => (await stage.host.request('GET', '/~acme/Contact/count')).body.count
    const before = await count()

    await write(page, 'Code', "await $.Contact.create({ name: 'Made by code' })")
    await page.getByRole('button', { name: 'Run' }).click()
    await page.getByText('It would write').waitFor()
    expect(await count()).toBe(before)
    await page.getByLabel('Dry run').uncheck()
    await page.getByRole('button', { name: 'Run' }).click()
    await expect.poll(count).toBe(before + 1)
    await page.getByRole('button', { name: 'Undo all of it' }).click()

    await expect.poll(count).toBe(before)
    expect(await page.getByLabel('The MCP address').textContent()).toBe(`${stage.host.url}/~acme/mcp`)
  })

  test('a dropped file is imported, errors of a row are reported, and a list is exported as a file', async () => {
    const { page } = await stage.enter('import')
    const csv = 'name,email\nOne,one@example.com\n,nobody@example.com\nTwo,one@example.com\n'

    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(csv) })
    expect(await page.getByLabel('Field for email').inputValue()).toBe('email')
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByRole('heading', { name: 'people.csv' }).waitFor()
    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['1', '2'])
    expect(await page.getByLabel('Rejected rows').locator('tbody tr').count()).toBe(2)
    await page.goto(`${stage.host.url}/console#/~acme/Contact?text=one`)
    await page.getByRole('link', { name: 'One', exact: true }).waitFor()
    await page.getByRole('button', { name: 'List actions' }).click()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'CSV' }).click(),
    ])

    expect(download.suggestedFilename()).toBe('Contact.csv')
    const lines = readFileSync((await download.path())!, 'utf8')
      .trim()
      .split(/\r?\n/)
    expect(lines).toHaveLength(2)
    expect(lines[1]).toContain('one@example.com')
  })

  test('an import shows undeclared fields, with the nearest one', async () => {
    const { page } = await stage.enter('import')
    const buffer = Buffer.from('{"name": "Grete", "emial": "grete@example.com"}\n')

    await page.getByLabel('File to import').setInputFiles({ name: 'people.ndjson', mimeType: 'text/plain', buffer })
    await page.getByRole('button', { name: 'Check without writing' }).click()

    await page.getByText('Would be imported').waitFor()
    expect(await page.getByLabel('Unknown fields').innerText()).toMatch(/emial.*did you mean email/s)
  })

  test('an import continues after the connection was cut, and imports each row once', async () => {
    const { page } = await stage.enter('import', { tenant: 'cut' })
    const names = Array.from({ length: 5_000 }, (_, n) => `Row ${n}`)
    let state: 'before' | 'cut' | 'after' = 'before'
    await page.route(/\/import\/Contact/, async (route) => {
      const isSecond = state === 'before' && route.request().postData()!.includes('"Row 2000"')
      // The rows arrive, and the answer is lost.
      if (isSecond) await route.fetch()
      if (isSecond) state = 'cut'
      await (state === 'cut' ? route.abort('connectionreset') : route.continue())
    })

    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'rows.csv', mimeType: 'text/csv', buffer: Buffer.from(`name\n${names.join('\n')}\n`) })
    await page.getByRole('button', { name: 'Import 5,000 rows' }).click()
    await page.getByText('The server does not answer.').waitFor()
    expect(await page.getByRole('progressbar', { name: 'Imported' }).getAttribute('value')).toBe('2000')
    state = 'after'
    await page.getByRole('heading', { name: 'rows.csv' }).waitFor()

    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['5,000', '0'])
    const { text } = await stage.host.request('GET', '/~cut/export/Contact?format=ndjson')
    const found = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name as string)
    expect(found.toSorted()).toEqual(names.toSorted())
  })

  test('an import continues on other pages, and ends where it is cancelled', async () => {
    const { page } = await stage.enter('import', { tenant: 'ended' })
    const rows = Array.from({ length: 5_000 }, (_, n) => `{"name":"Row ${n}"}`)
    let release = () => {}
    const held = new Promise<void>((done) => {
      release = done
    })
    await page.route(/\/import\/Contact/, async (route) => {
      if (route.request().postData()!.includes('"Row 2000"')) await held
      await route.continue()
    })

    await page
      .getByLabel('File to import')
      .setInputFiles({ name: 'rows.ndjson', mimeType: 'text/plain', buffer: Buffer.from(rows.join('\n')) })
    await page.getByRole('button', { name: 'Import', exact: true }).click()
    await page.getByText('2,000 of 5,000 rows').waitFor()
    await page.getByRole('link', { name: 'Contacts' }).click()
    await page.getByText('1–25 of 2,000').waitFor()
    await page.getByText('Saving…').waitFor()
    await page.goBack()
    await page.getByRole('button', { name: 'Cancel the import' }).click()
    await page.getByText('Ending after the rows that are on their way…').waitFor()
    release()

    await page.getByText('You cancelled the import.').waitFor()
    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['4,000', '0'])
    expect((await stage.host.request('GET', '/~ended/Contact/count')).body.count).toBe(4_000)
  })

  test('the operator sees a backup while it is read slowly, its progress, and its end', async () => {
    const { host } = stage
    // More than the buffers of a connection hold.
    const rows = Array.from({ length: 25 }, (_, n) =>
      JSON.stringify({ name: `Large ${n}`, scan: `${n}`.repeat(300_000) }),
    )
    for (let i = 0; i < 3; i++)
      await host.request('POST', '/~large/import/Contact', rows.join('\n'), { 'content-type': 'application/x-ndjson' })
    const backup = await host.fetch('/operator/tenants/large/backup', { headers: { authorization: `Bearer ${ROOT}` } })
    const reader = backup.body!.getReader()
    let read = (await reader.read()).value!.length

    const { page } = await stage.enter('', { tenant: 'large', key: ROOT })
    const tasks = page.getByRole('region', { name: 'Running tasks' })
    await tasks.getByText('Backup: send').waitFor()
    await tasks.getByText(/^[\d.]+ MB of \d[\d.]* MB/).waitFor()
    const progress = tasks.getByRole('progressbar', { name: 'Progress of backup' })
    const sent = () => progress.evaluate((bar: HTMLProgressElement) => bar.position)
    const first = await sent()
    const half = Number(backup.headers.get('content-length')) / 2
    while (read < half) read += (await reader.read()).value!.length
    await expect.poll(sent).toBeGreaterThan(Math.max(first, 0.49))
    expect(await sent()).toBeLessThan(1)
    for (let chunk = await reader.read(); !chunk.done; ) chunk = await reader.read()

    await page.getByText('Backup of ~large ended.').waitFor()
    await tasks.waitFor({ state: 'detached' })
  })

  test.each([
    ['Verify', (_: number) => stage.host.request('GET', '/operator/tenants/acme/verify')],
    ['Fork', (n: number) => stage.host.request('POST', '/operator/tenants/acme/fork', { to: `fork-${n}` })],
  ])('the operator sees while it runs and ends: %s', async (name, work) => {
    const { page } = await stage.enter('', { key: ROOT })
    const tasks = page.getByRole('region', { name: 'Running tasks' })
    let isSeen = false
    const seen = tasks
      .getByText(`${name}: `)
      .waitFor()
      .finally(() => {
        isSeen = true
      })

    // One after the other, so that one runs when the page looks.
    for (let n = 0; !isSeen; n++) expect((await work(n)).status).toBeLessThan(300)
    await seen

    await page.getByText(`${name} of ~acme ended.`).first().waitFor()
    await tasks.waitFor({ state: 'detached' })
  })

  test('the operator sees a restore at the key box, and the tenant opens when it ends', async () => {
    const { host } = stage
    const file = await (
      await host.fetch('/operator/tenants/acme/backup', { headers: { authorization: `Bearer ${ROOT}` } })
    ).bytes()
    const restore = request(`${host.url}/operator/tenants/restored/restore`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${ROOT}`, 'content-length': file.length },
    })
    const answered = once(restore, 'response')
    restore.write(file.subarray(0, file.length / 2))
    const task = async () => (await host.request('GET', '/operator/tenants/restored/tasks')).body.results[0]
    await expect.poll(async () => (await task())?.done).toBeGreaterThan(0)

    const { page } = await stage.browser.open()
    await page.goto(`${host.url}/console#/~restored`)
    await page.getByLabel('Key', { exact: true }).fill(ROOT)
    await page.getByRole('button', { name: 'Open' }).click()
    await page.getByText('The tenant restored is being restored.').waitFor()
    await page.getByText('Restore: receive').waitFor()
    const position = () => page.getByRole('progressbar').evaluate((bar: HTMLProgressElement) => bar.position)
    await expect.poll(position).toBeCloseTo(0.5, 1)
    restore.end(file.subarray(file.length / 2))
    expect(((await answered)[0] as IncomingMessage).statusCode).toBe(201)

    await page.getByRole('heading', { name: '~restored' }).waitFor()
  })

  test('what the first page loads is less than a hundred kilobytes over the wire', async () => {
    const { host } = stage
    const paths = new Set<string>()
    const { page } = await stage.browser.open()
    page.on('request', (request) => {
      if (request.url().includes('/console/assets/')) paths.add(new URL(request.url()).pathname)
    })
    await page.goto(`${host.url}/console#/~acme/Deal`)
    await giveKey({ page }, await host.key('acme', 'admin:all'))
    await page.locator('tbody tr').first().waitFor()

    const sent = async (encoding: string) => {
      const sizes = await Promise.all([...paths].map((path) => sizeOf(`${host.url}${path}`, encoding)))
      return sizes.reduce((sum, size) => sum + size, 0)
    }

    expect([...paths].some((path) => path.endsWith('.woff2'))).toBe(true)
    expect([...paths].some((path) => /editor|metrics|import/.test(path))).toBe(false)
    expect(await sent('gzip')).toBeLessThan(100_000)
    expect(await sent('br')).toBeLessThan(100_000)
  })
})

/** How many bytes the server sends for a file in this encoding. */
async function sizeOf(url: string, encoding: string): Promise<number> {
  const asked = request(url, { headers: { 'accept-encoding': encoding } }).end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return Buffer.concat(await answer.toArray()).length
}

/** Replaces the text of an editor, as the keyboard does. */
async function write(page: Tab['page'], label: string, text: string): Promise<void> {
  await page.getByRole('textbox', { name: label }).click()
  await page.keyboard.press('Control+a')
  await page.keyboard.press('Delete')
  await page.keyboard.insertText(text)
}
