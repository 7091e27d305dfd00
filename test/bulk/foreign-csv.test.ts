import { CellReader } from '@tildebase/nouns/csv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type TestApp, testApp } from '../host.ts'

let host: TestApp
beforeAll(async () => {
  host = await testApp()
})
afterAll(() => host.stop())

const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
const sixteen = (text: string) => new Uint8Array(Buffer.from(`\ufeff${text}`, 'utf16le'))

let tenants = 0
/** Imports a file of contacts into its own tenant: the answer, and what is there then. */
async function imported(file: string | Uint8Array, type = 'text/csv') {
  const at = `/~csv${++tenants}`
  const { status, body } = await host.request('POST', `${at}/import/Contact`, file, { 'content-type': type })
  const { body: entities } = await host.request('GET', `${at}/export/Contact?fields=name,email,leadScore,Nickname`)
  return { status, body, entities: entities.map(({ $id, $type, ...fields }: any) => fields) }
}

const ADA = { name: 'Ada Müller', email: 'ada@example.com', leadScore: 90 }

test.each([
  ['semicolons', 'name;email;leadScore\nAda Müller;ada@example.com;90\n', { separator: ';' }],
  ['tabs', 'name\temail\tleadScore\r\nAda Müller\tada@example.com\t90\r\n', { separator: '\t' }],
  ['a line for spreadsheets', 'sep=;\r\nname;email;leadScore\r\nAda Müller;ada@example.com;90', { separator: ';' }],
  [
    'a comma in a cell, and semicolons',
    'name;email;leadScore;Nickname\nAda Müller;ada@example.com;90;"a, b"\n',
    { separator: ';' },
    { ...ADA, Nickname: 'a, b' },
  ],
  [
    'headers with capitals and spaces',
    'Name,E-Mail,Lead Score\nAda Müller,ada@example.com,90\n',
    { columns: { Name: 'name', 'E-Mail': 'email', 'Lead Score': 'leadScore' } },
  ],
  [
    'the encoding of old spreadsheets',
    latin('name,email,leadScore\nAda Müller,ada@example.com,90\n'),
    { encoding: 'windows-1252' },
  ],
  [
    'UTF-16 with its mark, as spreadsheets save Unicode text',
    sixteen('Name\temail\tleadScore\r\nAda Müller\tada@example.com\t90\r\n'),
    { encoding: 'utf-16le', separator: '\t', columns: { Name: 'name' } },
  ],
])(
  'a CSV file with %s is imported, and the answer tells how it was read',
  async (_, file, assumed, entity: object = ADA) => {
    const { status, body, entities } = await imported(file)

    expect([status, body]).toMatchObject([200, { success: true, imported: 1, errors: 0, details: [], assumed }])
    expect(entities).toEqual([entity])
  },
)

test('a file as the standard has it is read without assumptions', async () => {
  const { body, entities } = await imported('name,email,leadScore\nAda Müller,ada@example.com,90\n')

  expect(body).not.toHaveProperty('assumed')
  expect(entities).toEqual([ADA])
})

test('an encoding that the Content-Type names is the one that is read', async () => {
  const file = latin('name\nAda M\u00c3\u00bcller\n')

  expect((await imported(file)).entities).toEqual([{ name: 'Ada Müller' }])
  expect((await imported(file, 'text/csv; charset=iso-8859-1')).entities).toEqual([{ name: 'Ada MÃ¼ller' }])
  expect((await imported(file, 'text/csv; charset=klingon')).status).toBe(415)
})

test('a column is taken for a field only where it can mean no other', async () => {
  const { body, entities } = await imported('name,Name,NICKNAME,Nickname\nAda,Eve,a,b\n')

  expect(body).not.toHaveProperty('assumed')
  expect(entities).toEqual([{ name: 'Ada', Nickname: 'b' }])
})

test('details tell the line of the file, whatever is before the header', async () => {
  const { body } = await imported('sep=;\nname;leadScore\nAda;1\nBob;many\n')

  expect(body.details).toEqual([{ row: 1, line: 4, error: expect.stringContaining('leadScore') }])
})

test('a long header that comes in small pieces is looked at a few times, not once for each piece', () => {
  const reader = new CellReader()
  const header = `name,"${'a\n'.repeat(200_000)}";x`
  const rows = [...header].flatMap((letter) => reader.push(letter))

  expect([...rows, ...reader.push('\nAda,1\n'), ...reader.end()].map(({ cells }) => cells.length)).toEqual([2, 2])
})
