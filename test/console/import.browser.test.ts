import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { BROWSER, type Tab } from './browser.ts'
import { useStage } from './stage.ts'

const stage = useStage()

const find = async (tenant: string, type: string, filter: object = {}) => {
  const query = `filter=${encodeURIComponent(JSON.stringify(filter))}&limit=100&sort=name`
  return (await stage.host.request('GET', `/~${tenant}/${type}?${query}`)).body.results as {
    [field: string]: unknown
  }[]
}

const choose = (page: Tab['page'], name: string, content: Buffer) =>
  page.getByLabel('File to import').setInputFiles({ name, mimeType: 'text/csv', buffer: content })

describe.skipIf(BROWSER === null)('a file as people have it', () => {
  test('a German file of a spreadsheet arrives whole: encoding, formats, words and companies', async () => {
    await stage.host.request('POST', '/~german/Organization', { name: 'Müller & Söhne' })
    const csv = [
      'Name;E-Mail;Firma;Punkte;Stufe;Geboren',
      'Jürgen Groß;j@example.com;Müller & Söhne;1.200;Kunde;15.06.1980',
      'Ute Weiß;u@example.com;Neue Werke;12,5;Lead;1.2.1990',
      'Zoë;z@example.com;Neue Werke;7;Kunde;',
    ].join('\r\n')
    const { page } = await stage.enter('import', { tenant: 'german' })

    await choose(page, 'kunden.csv', Buffer.from(csv, 'latin1'))
    await expect.poll(() => page.getByLabel('Encoding').inputValue()).toBe('windows-1252')
    expect(await page.getByLabel('Separator').inputValue()).toBe(';')
    await page.getByLabel('Field for Firma').selectOption('organization')
    await page.getByLabel('Field for Punkte').selectOption('leadScore')
    await page.getByLabel('Field for Stufe').selectOption('stage')
    expect(await page.getByLabel('Numbers of Punkte').inputValue()).toBe('comma')
    await page.getByText('1.200 → 1,200').waitFor()
    await page.getByLabel('Meaning of Kunde').selectOption('Customer')
    await page.getByLabel('Create 1 missing organization').check()
    await page.getByRole('button', { name: 'Import 3 rows' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()

    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['3', '0'])
    const companies = await find('german', 'Organization')
    expect(companies.map(({ name }) => name)).toEqual(['Müller & Söhne', 'Neue Werke'])
    const idOf = (name: string) => companies.find((one) => one.name === name)?.$id
    expect(await find('german', 'Contact')).toMatchObject([
      { name: 'Jürgen Groß', leadScore: 1_200, stage: 'Customer', organization: idOf('Müller & Söhne') },
      { name: 'Ute Weiß', leadScore: 12.5, stage: 'Lead', organization: idOf('Neue Werke') },
      { name: 'Zoë', leadScore: 7, stage: 'Customer', organization: idOf('Neue Werke') },
    ])
    await page.getByRole('button', { name: 'Undo this import' }).click()
    await page.getByText('4 changes undone').waitFor()
    expect(await find('german', 'Contact')).toEqual([])
    expect(await find('german', 'Organization')).toMatchObject([{ name: 'Müller & Söhne' }])
  })

  test('rows that cannot be read are grouped, and come back as a file with their reasons', async () => {
    const rows = Array.from({ length: 30 }, (_, n) => `Row ${n},${n < 20 ? 'many' : n}`)
    const csv = `name,leadScore\n"Two\nlines",5\n${rows.join('\n')}\n`
    const { page } = await stage.enter('import', { tenant: 'grouped' })

    await choose(page, 'rows.csv', Buffer.from(csv))
    await page.getByText('20 rows have cells that cannot be read').waitFor()
    await page.getByRole('button', { name: 'Import 31 rows' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()
    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['11', '20'])
    const groups = page.getByLabel('Rejected rows').locator('tbody tr')
    expect(await groups.count()).toBe(1)
    // The second row has two lines.
    expect(await groups.locator('td').allTextContents()).toEqual([
      '20',
      'leadScore: “many” is not a number',
      '4, 5, 6, 7, 8 …',
    ])
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the 20 rejected rows' }).click(),
    ])

    expect(download.suggestedFilename()).toBe('rows.rejected.csv')
    const lines = readFileSync((await download.path())!, 'utf8').split('\r\n')
    expect(lines.slice(0, 2)).toEqual(['\uFEFFname,leadScore,Reason', 'Row 0,many,leadScore: “many” is not a number'])
    expect(lines).toHaveLength(22)
  })

  test('cells that cannot be read are left out on request, and a company is not guessed', async () => {
    await stage.host.request('POST', '/~left/Organization', { name: 'Twice' })
    await stage.host.request('POST', '/~left/Organization', { name: 'Twice' })
    const { page } = await stage.enter('import', { tenant: 'left' })

    await choose(page, 'left.csv', Buffer.from('name,organization,leadScore\nAda,Twice,7\nBo,,x\n'))
    await page.getByText('2 entries are called “Twice”').waitFor()
    await page.getByLabel(/rows have cells that cannot be read/).selectOption('leave out')
    await page.getByRole('button', { name: 'Import 2 rows' }).click()
    await page.getByText('Imported', { exact: true }).waitFor()

    expect(await page.locator('.numbers dd').allTextContents()).toEqual(['2', '0'])
    const contacts = await find('left', 'Contact')
    expect(contacts).toMatchObject([{ name: 'Ada', leadScore: 7 }, { name: 'Bo' }])
    expect(contacts.every((one) => one.organization === undefined || one.organization === null)).toBe(true)
  })

  test('UTF-16 is read as such, and another encoding is chosen by hand', async () => {
    const { page } = await stage.enter('import', { tenant: 'sixteen' })

    await choose(page, 'wide.csv', Buffer.from('\uFEFFname\tcity\nŁukasz\tŁódź\n', 'utf16le'))
    await expect.poll(() => page.getByLabel('Encoding').inputValue()).toBe('utf-16le')
    expect(await page.getByLabel('Separator').inputValue()).toBe('\t')
    await page.getByText('Łukasz').first().waitFor()
    // In Central Europe the same bytes mean other letters.
    await choose(
      page,
      'central.csv',
      Buffer.from([0x6e, 0x61, 0x6d, 0x65, 0x0a, 0xa3, 0x75, 0x6b, 0x61, 0x73, 0x7a, 0x0a]),
    )
    await expect.poll(() => page.getByLabel('Encoding').inputValue()).toBe('windows-1252')
    await page.getByLabel('Encoding').selectOption('iso-8859-2')
    await page.getByText('Łukasz').first().waitFor()
  })
})
