import { catalogue, type Json, type Noun, nounsOf } from '@tildebase/nouns'
import { OPERATOR } from '@tildebase/tenant'
import { Hooks } from '@tildebase/tenant/hooks'
import { systemSeal } from '../../packages/server/src/host/ports.ts'
import { TenantFiles } from '../../packages/server/src/node/sqlite/files.ts'
import { openSql } from '../../packages/server/src/node/sqlite/sql.ts'
import { createServices } from '../../packages/tenant/src/facade/create-services.ts'
import { grantFor } from '../../packages/tenant/src/grant/grant.ts'
import { pseudo, TestTenant, testVault } from '../tenant/fixture.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR
const MONTH = 30 * DAY

const COMPANIES = [
  ['Northwind Clinics', 'Healthcare', 'Oslo'],
  ['Lumen Energy', 'Energy', 'Lisbon'],
  ['Harbour & Sons', 'Construction', 'Hamburg'],
  ['Field Notes', 'Media', 'Chicago'],
  ['Blue Orchard', 'Finance', 'Zurich'],
  ['Kite Robotics', 'Manufacturing', 'Osaka'],
  ['Juniper Labs', 'Healthcare', 'Boston'],
  ['Meridian Freight', 'Logistics', 'Rotterdam'],
] as const

const PEOPLE = [
  'Ada Byron', 'Grace Murray', 'Alan Mathison', 'Edith Clarke', 'Katherine Coleman', 'Radia Joy', 'Barbara Huberman',
  'Donald Ervin', 'Frances Elizabeth', 'Niklaus Emil', 'Jean Bartik', 'Hedy Kiesler', 'Claude Elwood', 'Annie Jump',
  'Margaret Heafield', 'John Warner', 'Mary Kenneth', 'Tony Hoare', 'Lynn Ann', 'Leslie Barry', 'Rosalind Elsie',
  'Emmy Amalie', 'Sophie Germain', 'Kurt Friedrich', 'Cecilia Helena', 'Lise Meitner', 'Mary Somerville', 'Karen Ida',
  'Shafi Tova', 'Ken Lane', 'Dennis MacAlistair', 'Beatrice Helen',
] as const // biome-ignore format: a crowd

const PROJECTS = ['rollout', 'renewal', 'pilot', 'expansion', 'migration']

/** Writes a year of a small business into the file of `acme`, at the times it would have happened. */
export function writeYear(data: string): void {
  const files = new TenantFiles(data)
  files.prepare()
  files.create('acme')
  const now = Date.now()
  let at = now - 12 * MONTH
  const sql = openSql(files.pathOf('acme'))
  // Dice of its own: the year is the same however much chance the engine takes.
  const dice = pseudo(11)
  const roll = (most: number) => dice(1)[0]! % most
  const ports = {
    sql,
    clock: { now: () => at },
    random: { bytes: pseudo(7) },
    seal: systemSeal,
    vault: testVault,
    alarm: { wakeAt: () => undefined },
  }
  const services = createServices('acme', ports, {
    nouns: nounsOf(Object.values(catalogue) as Noun[]),
    hooks: new Hooks(),
    baseUrl: 'http://localhost',
    log: () => undefined,
  })
  const tenant = new TestTenant(services, sql)
  let who = OPERATOR
  const run = (type: string, verb: string, data: { [field: string]: Json }, id?: string) => {
    at += 60_000
    return tenant.run(who, { type, verb, data, ...(id !== undefined && { id }) }).entity.id
  }
  const create = (type: string, fields: { [field: string]: Json }) => run(type, 'create', fields)
  const [sales, desk] = ['Sales team', 'Support desk'].map((name) =>
    grantFor(create('ApiKey', { name, scopes: 'write:all' })),
  )

  who = sales!
  const companies = COMPANIES.map(([name, industry, city], n) =>
    create('Organization', {
      name,
      industry,
      city,
      type: n % 3 === 0 ? 'Customer' : 'Prospect',
      employeeCount: 40 + 85 * n,
    }),
  )
  const plan = create('Plan', { name: 'Team', status: 'Active' })
  create('Price', { plan, amount: 240, interval: 'Monthly', active: true })
  const campaign = create('Campaign', { name: 'Spring fair', type: 'Event' })
  run('Campaign', 'launch', {}, campaign)
  const crowd = [...PEOPLE]
  const subscriptions: string[] = []

  for (let month = 0; month < 12; month++) {
    const start = now - (12 - month) * MONTH
    for (let n = 0; n < 3 && crowd.length > 0; n++) {
      at = Math.max(at, start + n * 8 * DAY + roll(200) * HOUR)
      who = sales!
      const name = crowd.shift()!
      const place = (month + n) % companies.length
      const organization = companies[place]!
      const contact = create('Contact', {
        name,
        email: `${name.toLowerCase().replace(/\W+/g, '.')}@example.com`,
        title: ['Buyer', 'Head of operations', 'Engineer', 'Director'][roll(4)]!,
        leadScore: 20 + roll(80),
        organization,
      })
      create('Lead', { name: `${name} asked for a demo`, contact, organization, campaign, source: 'Fair' })
      if (roll(3) > 0) run('Contact', 'qualify', {}, contact)
      const deal = create('Deal', {
        name: `${COMPANIES[place]![0]} ${PROJECTS[roll(5)]}`,
        value: 4_000 + 500 * roll(90),
        currency: 'eur',
        organization,
        contact,
      })
      for (let step = roll(4); step > 0; step--) run('Deal', 'advance', {}, deal)
      create('Activity', { subject: `Call with ${name.split(' ')[0]}`, type: 'Call', contact, deal })
      if (month < 10 && roll(3) === 0) run('Deal', 'win', {}, deal)
      else if (roll(6) === 0) run('Deal', 'lose', { lostReason: 'Chose to wait' }, deal)
      if (roll(2) === 0) subscriptions.push(create('Subscription', { organization, plan, quantity: 1 + roll(9) }))
      who = desk!
      const ticket = create('Ticket', {
        subject: `${name.split(' ')[0]} cannot sign in`,
        priority: 'Medium',
        requester: contact,
        organization,
      })
      if (roll(3) > 0) run('Ticket', 'resolve', { satisfaction: 3 + roll(3) }, ticket)
    }
    if (month % 4 === 3) run('Subscription', 'cancel', { cancelReason: 'Budget' }, subscriptions.shift())
  }
  at = Math.max(at, now - 9 * HOUR)
  who = sales!
  for (let visitor = 0; visitor < 40; visitor++) {
    const deep = 1 + Math.min(3, roll(5))
    for (const step of ['visit', 'signup', 'invite', 'pay'].slice(0, deep)) {
      create('Event', { name: step, type: 'track', userId: `user-${visitor}`, source: 'Browser' })
    }
  }
  create('Funnel', { name: 'From visit to payment', steps: ['visit', 'signup', 'invite', 'pay'] })
  sql.close()
}
