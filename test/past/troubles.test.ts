import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CONNECTORS, type Found, pastOf, patient } from '@tildebase/server/connect'
import { describe, expect, test } from 'vitest'
import { type FileSource, folder, salesforce } from '../../packages/cli/src/connect/files.ts'
import { githubFake, hubspotFake, type Provider, startFake, stripeFake, type Trouble } from './fakes.ts'

const RECORDS = 7
const at = (n: number) => new Date(Date.UTC(2025, 0, n, 9)).toISOString()
const seconds = (n: number) => Date.parse(at(n)) / 1_000
const numbers = Array.from({ length: RECORDS }, (_, i) => i + 1)

/** A provider with seven records on several pages. */
interface Account {
  readonly provider: Provider
  readonly object: string
  readonly token: string
  readonly scope: string | null
  /** The id of the nth record in our words. */
  id(n: number): string
  /** The record that is the last one of the first page. */
  readonly cursor: number
  rename(n: number, name: string): void
  add(n: number): void
  remove(n: number): void
  /** Whether a run sees that a record was deleted before: with its past, or with what changed since. */
  readonly seesDeleted: 'past' | 'changes' | 'never'
}

const ACCOUNTS: { readonly [connector: string]: () => Account } = {
  hubspot: () => {
    const contact = (n: number, name = `C${n}`): any => ({
      id: String(100 + n),
      createdAt: at(n),
      updatedAt: at(n),
      propertiesWithHistory: {
        firstname: [{ value: name, timestamp: at(n) }],
        email: [
          { value: `new${n}@x.y`, timestamp: at(n + 20) },
          { value: `${n}@x.y`, timestamp: at(n) },
        ],
      },
    })
    const contacts = numbers.map((n) => contact(n))
    const find = (n: number) => contacts.findIndex(({ id }) => id === String(100 + n))
    return {
      provider: hubspotFake({ contacts }),
      object: 'contacts',
      token: 'hub-token',
      scope: null,
      id: (n) => String(100 + n),
      cursor: 3,
      rename: (n, name) => void contacts.splice(find(n), 1, contact(n, name)),
      add: (n) => void contacts.push(contact(n)),
      remove: (n) => void Object.assign(contacts[find(n)]!, { archived: true, archivedAt: at(40) }),
      seesDeleted: 'past',
    }
  },
  stripe: () => {
    const customer = (n: number, name = `C${n}`): any => ({
      id: `cus_${n}`,
      object: 'customer',
      created: seconds(n),
      name,
    })
    const objects: { [object: string]: any[] } = { customers: numbers.map((n) => customer(n)), events: [] }
    const find = (n: number) => objects.customers!.findIndex(({ id }) => id === `cus_${n}`)
    return {
      provider: stripeFake(objects),
      object: 'customers',
      token: 'sk_test',
      scope: null,
      id: (n) => `cus_${n}`,
      cursor: RECORDS - 1,
      rename: (n, name) => void objects.customers!.splice(find(n), 1, customer(n, name)),
      add: (n) => void objects.customers!.push(customer(n)),
      remove: (n) => {
        const [gone] = objects.customers!.splice(find(n), 1)
        const event = { id: `evt_${n}`, object: 'event', type: 'customer.deleted', created: seconds(40) }
        objects.events!.push({ ...event, data: { object: gone } })
      },
      seesDeleted: 'changes',
    }
  },
  github: () => {
    const issue = (number: number, title = `C${number}`) => ({
      number,
      title,
      state: 'open',
      created_at: at(number),
      updated_at: at(number),
      labels: [],
    })
    const issues = numbers.map((n) => issue(n))
    const closed = (n: number) => [{ event: 'closed', created_at: at(n + 20), actor: { login: 'ada' } }]
    const timelines = Object.fromEntries(numbers.map((n) => [n, closed(n)]))
    const find = (n: number) => issues.findIndex(({ number }) => number === n)
    return {
      provider: githubFake(issues, timelines),
      object: 'issues',
      token: 'x',
      scope: 'acme/boat',
      id: (n) => `acme/boat#${n}`,
      cursor: 2,
      rename: (n, title) => void issues.splice(find(n), 1, issue(n, title)),
      add: (n) => void issues.push(issue(n)),
      remove: (n) => void issues.splice(find(n), 1),
      seesDeleted: 'never',
    }
  },
}

interface Reading {
  readonly found: readonly Found[]
  readonly waits: readonly number[]
  readonly asked: number
}

/** Reads an account as a run does, without real waits. */
async function read(
  name: string,
  account: Account,
  troubleOf: (turn: number, url: URL) => Trouble | null = () => null,
  since: string | null = null,
): Promise<Reading> {
  const connector = CONNECTORS[name]!
  const fake = await startFake(account.provider, troubleOf)
  const waits: number[] = []
  const send = async (path: string) => {
    try {
      const answer = await fetch(`${fake.url}${path}`, { headers: connector.headers(account.token) })
      return { status: answer.status, text: await answer.text(), headers: Object.fromEntries(answer.headers) }
    } catch (reason) {
      return { error: String(reason) }
    }
  }
  const wait = async (ms: number) => void waits.push(ms)
  const { object, scope } = account
  const question = { object, mapping: connector.mapping[object]!, since, now: Date.parse(at(50)), scope }
  const found: Found[] = []
  try {
    for await (const one of connector.records(patient({ send, wait, now: () => 0 }), question)) found.push(one)
  } finally {
    await fake.stop()
  }
  return { found, waits, asked: fake.asked.length }
}

const idsOf = ({ found }: Reading) => found.map(({ id }) => id).sort()
const rowsOf = (name: string, { object }: Account, { found }: Reading) =>
  found.flatMap((one) => pastOf(CONNECTORS[name]!, object, CONNECTORS[name]!.mapping[object]!, one))
const every = (account: Account, all: readonly number[] = numbers) => all.map((n) => account.id(n)).sort()

/** Changes an account once the first page of its list was answered. */
function afterFirstPage(change: () => void): (turn: number, url: URL) => null {
  let pages = 0
  return (_, { pathname }) => {
    if (!pathname.endsWith('/timeline') && ++pages === 2) change()
    return null
  }
}

describe.each(Object.keys(ACCOUNTS))('%s', (name) => {
  const open = ACCOUNTS[name]!

  test('is read through all pages, each record once', async () => {
    const account = open()

    const reading = await read(name, account)

    expect(idsOf(reading)).toEqual(every(account))
    expect(reading.asked).toBeGreaterThan(3)
  })

  test.each(['limit', 'failure', 'cut answer', 'cut connection'] as const)(
    'is read completely with a %s at any request',
    async (trouble) => {
      const account = open()
      const calm = await read(name, account)

      for (let turn = 1; turn <= calm.asked; turn++) {
        const reading = await read(name, account, (now) => (now === turn ? trouble : null))

        expect(rowsOf(name, account, reading)).toEqual(rowsOf(name, account, calm))
        expect(reading.waits).toEqual([trouble === 'limit' ? 1_000 : 500])
      }
    },
  )

  test('is not taken for complete when it continues to fail, or answers without a list', async () => {
    const account = open()

    for (const trouble of ['failure', 'no list'] as const) {
      await expect(read(name, account, (turn) => (turn > 2 ? trouble : null))).rejects.toThrow(
        trouble === 'failure' ? '500' : 'without a list',
      )
    }
  })

  test('loses no record when others change and are created between two pages', async () => {
    const account = open()
    const change = afterFirstPage(() => {
      account.rename(account.cursor, 'Changed')
      account.rename(4, 'Changed')
      account.add(RECORDS + 1)
    })

    const reading = await read(name, account, change)

    expect(idsOf(reading).filter((id) => id !== account.id(RECORDS + 1))).toEqual(every(account))
    const rows = rowsOf(name, account, reading).filter(({ source }) => source.endsWith(`:${account.id(4)}`))
    expect(Object.values(rows[0]!.data!)).toContain('Changed')
  })

  test('loses no record when the last one of a page is deleted before the next page', async () => {
    const account = open()

    const reading = await read(
      name,
      account,
      afterFirstPage(() => account.remove(account.cursor)),
    )

    expect([...new Set(idsOf(reading))]).toEqual(every(account))
  })

  test('has deleted records as far as the provider shows them', async () => {
    const account = open()
    account.remove(5)

    const past = await read(name, account)
    const changes = await read(name, account, undefined, at(39))

    const deletes = (reading: Reading) => reading.found.filter(({ deletedAt }) => deletedAt === at(40))
    expect(deletes(past).map(({ id }) => id)).toEqual(account.seesDeleted === 'past' ? [account.id(5)] : [])
    expect(deletes(changes).map(({ id }) => id)).toEqual(account.seesDeleted === 'never' ? [] : [account.id(5)])
    expect(idsOf(past).filter((id) => id !== account.id(5))).toEqual(
      every(
        account,
        numbers.filter((n) => n !== 5),
      ),
    )
  })
})

const HEAD = 'Id,IsDeleted,Name,CreatedDate,SystemModstamp'
const FILES: { readonly [source: string]: { source: FileSource; object: string; head: string } } = {
  salesforce: { source: salesforce, object: 'Account', head: HEAD },
  folder: { source: folder, object: 'Account', head: HEAD },
}

describe.each(Object.keys(FILES))('files of %s', (name) => {
  const { source, object, head } = FILES[name]!
  const mapping = { type: 'Organization', fields: { Name: 'name' }, time: 'CreatedDate' }
  const line = (n: number) => `${n},${n === 7 ? 1 : 0},"Company, ${n}",${at(1)},${at(2)}\n`
  const readText = async (text: string) => {
    const path = mkdtempSync(join(tmpdir(), 'tilde-files-'))
    writeFileSync(join(path, `${object}.csv`), text)
    const found: Found[] = []
    try {
      for await (const one of source.records(path, object, mapping)) found.push(one)
    } finally {
      rmSync(path, { recursive: true })
    }
    return found
  }

  test('are read row by row, whatever their size', async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => i + 1)

    const found = await readText(`${head}\n${many.map(line).join('')}`)

    expect(found.map(({ id }) => id)).toEqual(many.map(String))
    expect(found[6]!.deletedAt).toBe(name === 'salesforce' ? at(2) : undefined)
  })

  test('that are cut off are refused, with the line', async () => {
    const text = `${head}\n${line(1)}${line(2)}`
    // Without the last line and its end the file is a complete one.
    const begin = text.length - line(2).length + 1
    const end = text.length - `${at(2)}\n`.length - 1

    for (let length = begin; length < end; length++)
      await expect(readText(text.slice(0, length))).rejects.toThrow(/Account\.csv: the row in line 3 /)
  })
})
