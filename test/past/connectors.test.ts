import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { tildeWith } from '../cli/tilde.ts'
import { ROOT, type TestHost, testHost } from '../host.ts'
import { verifies } from '../verifies.ts'
import { githubFake, type HubspotRecord, hubspotFake, startFake, stripeFake } from './fakes.ts'

let host: TestHost
let work: string
beforeAll(async () => {
  host = await testHost()
  work = mkdtempSync(join(tmpdir(), 'tilde-connect-'))
})
afterAll(async () => {
  await host.stop()
  rmSync(work, { recursive: true })
})

const tilde = (tenant: string) => tildeWith({ TILDE_URL: host.url, TILDE_TENANT: tenant, TILDE_ROOT_KEY: ROOT })
const read = async (path: string) => (await host.request('GET', path)).body

const day = (n: number) => new Date(Date.UTC(2025, 0, n, 9)).toISOString()
const values = (...versions: [string, string][]) =>
  versions.map(([value, timestamp]) => ({ value, timestamp })).reverse()

function hubspotAccount(): { [object: string]: HubspotRecord[] } {
  const company = (i: number): HubspotRecord => ({
    id: `${700 + i}`,
    createdAt: day(i),
    updatedAt: day(i),
    propertiesWithHistory: { name: values([`Company ${i}`, day(i)]), domain: values([`c${i}.example`, day(i)]) },
  })
  const contact = (i: number): HubspotRecord => ({
    id: `${100 + i}`,
    createdAt: day(i),
    updatedAt: day(i + 20),
    propertiesWithHistory: {
      firstname: values([`First${i}`, day(i)], [`Changed${i}`, day(i + 20)]),
      lastname: values([`Last${i}`, day(i)]),
      email: values([`p${i}@x.y`, day(i)]),
      lifecyclestage: values(['lead', day(i)], ['customer', day(i + 10)]),
      // The company of the first contacts is created later than they are.
      associatedcompanyid: values([`${700 + ((i + 2) % 7) + 1}`, day(i)]),
    },
  })
  const gone = { ...contact(9), archived: true, archivedAt: day(40) }
  return {
    companies: [1, 2, 3, 4, 5, 6, 7].map(company),
    contacts: [...[1, 2, 3, 4, 5, 6, 7, 8].map(contact), gone],
    deals: [],
    tickets: [],
  }
}

describe('tilde import', () => {
  verifies(
    ['connect.past', 'connect.limits', 'connect.count', 'connect.mapping'],
    'reads HubSpot with its past, through pages, limits, failures and answers that are cut off',
    async () => {
      const account = hubspotAccount()
      const fake = await startFake(hubspotFake(account))
      const flags = ['--api-url', fake.url, '--token', 'hub-token', '--spool', join(work, 'hubspot')]
      const run = tilde('hub')

      const mapping = await run('import', 'hubspot', '--print-mapping')
      const dry = await run('import', 'hubspot', ...flags, '--dry-run', '--json')
      const first = await run('import', 'hubspot', ...flags, '--json')
      const second = await run('import', 'hubspot', ...flags, '--json')
      await fake.stop()

      expect(JSON.parse(mapping.out).contacts).toMatchObject({ type: 'Contact', fields: { email: 'email' } })
      expect(JSON.parse(dry.out)).toMatchObject({ companies: 7, contacts: 9, 'Contact.create': 9, 'Contact.delete': 1 })
      expect(first).toMatchObject({ code: 0 })
      expect(JSON.parse(first.out)).toMatchObject({ repeated: 0, errors: 0 })
      expect(JSON.parse(second.out)).toMatchObject({ imported: 0, errors: 0 })
      expect(JSON.parse(second.out).repeated).toBe(JSON.parse(first.out).imported)
      const at = async (n: number) =>
        (await read(`/~hub/Contact?$source=hubspot:contacts:101&asOf=${day(n)}&include=organization`)).results[0]
      expect(await at(1)).toMatchObject({ name: 'First1 Last1', stage: 'Lead' })
      expect(await at(12)).toMatchObject({ stage: 'Customer', organization: { name: 'Company 4' } })
      expect(await at(30)).toMatchObject({ name: 'Changed1 Last1', $createdAt: day(1) })
      expect((await read(`/~hub/Contact?asOf=${day(35)}`)).total).toBe(9)
      expect((await read('/~hub/Contact')).total).toBe(8)
    },
    120_000,
  )

  verifies(
    'connect.spool',
    'continues an interrupted run from the raw answers in its folder',
    async () => {
      const account = hubspotAccount()
      const failing = await startFake((url, key) =>
        url.pathname.endsWith('contacts') && url.searchParams.get('after') === '106'
          ? { status: 403, body: {} }
          : hubspotFake(account)(url, key),
      )
      const spool = join(work, 'resumed')
      const run = tilde('resumed')
      const broken = await run('import', 'hubspot', '--api-url', failing.url, '--token', 'hub-token', '--spool', spool)
      await failing.stop()
      const kept = readdirSync(join(spool, 'answers')).length
      const fake = await startFake(hubspotFake(account), () => null)

      const done = await run('import', 'hubspot', '--api-url', fake.url, '--token', 'hub-token', '--spool', spool)
      await fake.stop()

      expect(broken.code).not.toBe(0)
      expect(kept).toBeGreaterThan(3)
      expect(done).toMatchObject({ code: 0 })
      expect(fake.asked.length).toBeLessThan(kept + 3)
      expect((await read('/~resumed/Contact')).total).toBe(8)
    },
    60_000,
  )

  verifies(
    'connect.past',
    'reads Stripe with the times at which a status changed',
    async () => {
      const seconds = (n: number) => Date.parse(day(n)) / 1_000
      const fake = await startFake(
        stripeFake({
          customers: [1, 2, 3].map((i) => ({
            id: `cus_${i}`,
            object: 'customer',
            created: seconds(i),
            name: `C${i}`,
            email: null,
          })),
          subscriptions: [
            {
              id: 'sub_1',
              object: 'subscription',
              created: seconds(4),
              start_date: seconds(4),
              status: 'canceled',
              customer: 'cus_1',
              trial_start: seconds(4),
              trial_end: seconds(10),
              canceled_at: seconds(20),
              ended_at: seconds(20),
              quantity: 2,
            } as never,
          ],
          invoices: [
            {
              id: 'in_1',
              object: 'invoice',
              created: seconds(5),
              number: 'A-1',
              status: 'paid',
              customer: 'cus_1',
              subscription: 'sub_1',
              currency: 'eur',
              total: 1250,
              subtotal: 1250,
              amount_due: 1250,
              amount_paid: 1250,
              status_transitions: {
                finalized_at: seconds(6),
                paid_at: seconds(9),
                voided_at: null,
                marked_uncollectible_at: null,
              },
            } as never,
          ],
        }),
      )
      const run = tilde('stripe')

      const done = await run(
        'import',
        'stripe',
        '--api-url',
        fake.url,
        '--token',
        'sk_test',
        '--spool',
        join(work, 'stripe'),
        '--json',
      )
      await fake.stop()

      expect(JSON.parse(done.out)).toMatchObject({ errors: 0 })
      const invoice = async (n: number) => (await read(`/~stripe/Invoice?asOf=${day(n)}`)).results[0]
      expect(await invoice(5)).toMatchObject({ status: 'Draft', total: 12.5 })
      expect(await invoice(7)).toMatchObject({ status: 'Open' })
      expect(await invoice(9)).toMatchObject({ status: 'Paid', paidAt: day(9), $source: ['stripe:invoices:in_1'] })
      const status = async (n: number) => (await read(`/~stripe/Subscription?asOf=${day(n)}`)).results[0].status
      expect([await status(5), await status(11), await status(21)]).toEqual(['Trialing', 'Active', 'Cancelled'])
      expect((await read('/~stripe/events?type=Invoice.paid')).results).toHaveLength(1)
    },
    60_000,
  )

  verifies(
    'connect.past',
    'reads the issues of a GitHub repository with their timelines',
    async () => {
      const issue = (number: number, more = {}) => ({
        number,
        title: `Issue ${number}`,
        state: 'closed',
        created_at: day(number),
        labels: [],
        user: { login: 'ada' },
        ...more,
      })
      const timeline = [
        { event: 'labeled', created_at: day(11), label: { name: 'bug' }, actor: { login: 'max' } },
        { event: 'renamed', created_at: day(12), rename: { from: 'Old name', to: 'Issue 1' }, actor: { login: 'max' } },
        { event: 'commented', created_at: day(13) },
        { event: 'closed', created_at: day(14), actor: { login: 'ada' } },
        { event: 'reopened', created_at: day(15), actor: { login: 'ada' } },
        { event: 'closed', created_at: day(16), actor: { login: 'ada' } },
      ]
      const fake = await startFake(
        githubFake([issue(1), issue(2), issue(3, { pull_request: {} }), issue(4, { state: 'open' })], { 1: timeline }),
      )
      const run = tilde('github')

      const done = await run(
        'import',
        'github',
        '--scope',
        'acme/boat',
        '--api-url',
        fake.url,
        '--token',
        'x',
        '--spool',
        join(work, 'github'),
        '--json',
      )
      const flags = ['--api-url', fake.url, '--token', 'x', '--spool', join(work, 'github-all'), '--dry-run', '--json']
      const all = await run('import', 'github', ...flags)
      await fake.stop()

      expect(JSON.parse(done.out)).toMatchObject({ errors: 0 })
      expect(JSON.parse(all.out)).toMatchObject({ issues: 3, 'Issue.create': 3 })
      const at = async (n: number) =>
        (await read(`/~github/Issue?asOf=${day(n)}&$source=${encodeURIComponent('github:issues:acme/boat#1')}`))
          .results[0]
      expect(await at(2)).toMatchObject({ title: 'Old name', status: 'Open', $createdBy: 'github:ada' })
      expect(await at(13)).toMatchObject({ title: 'Issue 1', labels: 'bug' })
      expect([(await at(14)).status, (await at(15)).status, (await at(17)).status]).toEqual([
        'Closed',
        'Reopened',
        'Closed',
      ])
      expect((await read('/~github/Issue')).total).toBe(3)
    },
    60_000,
  )

  verifies(
    'connect.files',
    'reads a Salesforce export with its field histories, and a folder of CSV files',
    async () => {
      const folder = mkdtempSync(join(work, 'files-'))
      const write = (name: string, ...lines: string[]) => writeFileSync(join(folder, name), `${lines.join('\n')}\n`)
      write('Account.csv', 'Id,IsDeleted,Name,CreatedDate', `001A,0,"Acme, Inc.",${day(1)}`)
      write(
        'Opportunity.csv',
        'Id,IsDeleted,Name,Amount,StageName,AccountId,CreatedDate,SystemModstamp',
        `006A,0,Big,500,Closed Won,001A,${day(2)},${day(9)}`,
        `006B,1,Gone,1,Prospecting,001A,${day(3)},${day(9)}`,
      )
      write(
        'OpportunityFieldHistory.csv',
        'Id,OpportunityId,CreatedById,CreatedDate,Field,OldValue,NewValue',
        `017A,006A,005A,${day(5)},StageName,Prospecting,Negotiation/Review`,
        `017B,006A,005A,${day(7)},StageName,Negotiation/Review,Closed Won`,
      )
      const other = mkdtempSync(join(work, 'folder-'))
      writeFileSync(join(other, 'people.csv'), `id,full,team,seen\n1,Ada,7,${day(1)}\n1,Ada King,7,${day(3)}\n`)
      writeFileSync(join(other, 'teams.csv'), `id,label,seen\n7,Red,${day(2)}\n`)
      const mapping = join(other, 'mapping.json')
      writeFileSync(
        mapping,
        JSON.stringify({
          teams: { type: 'Organization', fields: { label: 'name' }, time: 'seen' },
          people: { type: 'Contact', fields: { full: 'name', team: 'organization' }, time: 'seen' },
        }),
      )

      const first = await tilde('force')('import', 'salesforce-csv', folder, '--spool', join(work, 'force'), '--json')
      const second = await tilde('folder')(
        'import',
        'folder',
        other,
        '--mapping',
        mapping,
        '--spool',
        join(work, 'folder'),
        '--json',
      )

      expect(JSON.parse(first.out)).toMatchObject({ errors: 0 })
      const stage = async (n: number) =>
        (await read(`/~force/Deal?asOf=${day(n)}&name=Big&include=organization`)).results[0]
      expect(await stage(3)).toMatchObject({ stage: 'Prospecting', organization: { name: 'Acme, Inc.' } })
      expect([(await stage(6)).stage, (await stage(8)).stage]).toEqual(['Negotiation', 'Won'])
      expect((await read('/~force/Deal')).total).toBe(1)
      expect(JSON.parse(second.out)).toMatchObject({ errors: 0 })
      const ada = async (n: number) => (await read(`/~folder/Contact?asOf=${day(n)}&include=organization`)).results[0]
      expect(await ada(1)).toMatchObject({ name: 'Ada' })
      expect(await ada(2)).toMatchObject({ name: 'Ada', organization: { name: 'Red' } })
      expect(await ada(3)).toMatchObject({ name: 'Ada King' })
    },
    60_000,
  )
})
