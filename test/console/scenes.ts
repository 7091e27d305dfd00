import { expect } from 'vitest'
import { invite, person } from '../people/people.ts'
import type { Receiver } from '../receiver.ts'
import type { Tab } from './browser.ts'
import type { Stage } from './stage.ts'

const MONTH = 30 * 86_400_000

/** A page to look at: where it is, and what makes it worth looking at. */
export interface Scene {
  readonly name: string
  readonly path: (stage: Stage, receiver: Receiver) => Promise<string> | string
  readonly arrange?: (page: Tab['page']) => Promise<unknown>
  /** Whether the docs have no picture of it. */
  readonly isPlain?: boolean
  /** Whether a person is signed in, in place of a key. */
  readonly isSignedIn?: boolean
  /** Gives the person who is signed in something to do. */
  readonly assign?: (stage: Stage, user: string) => Promise<unknown>
}

export const SCENES: readonly Scene[] = [
  {
    name: 'home',
    path: () => '',
    isSignedIn: true,
    assign: morning,
    arrange: (page) => page.locator('.mine').first().waitFor(),
  },
  { name: 'list', path: () => 'Deal' },
  {
    name: 'filter',
    path: () => `Deal?filter=${encodeURIComponent('{"value":{"$gte":20000}}')}&sort=-value`,
    arrange: (page) => page.getByLabel('Comparison').waitFor(),
  },
  { name: 'groups', path: () => 'Deal?group=stage', arrange: (page) => page.locator('.group-head').first().waitFor() },
  {
    name: 'file',
    isPlain: true,
    path: async ({ host }) => {
      await host.request('PUT', '/~acme/schema/Deal', { contract: 'file' })
      const { body } = await host.request('POST', '/~acme/Deal', { name: 'Engine' })
      const path = `/~acme/Deal/${body.$id}/contract`
      for (const name of ['draft.txt', 'signed.txt'])
        await host.request('POST', `${path}?name=${name}`, `The ${name}`, { 'content-type': 'text/plain' })
      return `Deal/${body.$id}`
    },
    arrange: async (page) => {
      await page
        .locator('.facts')
        .getByRole('button', { name: /^signed\.txt \d/ })
        .click()
      await page.getByRole('dialog').getByText('The signed.txt').waitFor()
    },
  },
  { name: 'board', path: () => 'Deal?layout=board', arrange: (page) => page.locator('.card').first().waitFor() },
  {
    name: 'edit',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.locator('tbody tr').first().waitFor()
      await page.keyboard.press('e')
      await page.getByRole('button', { name: 'Save' }).waitFor()
    },
  },
  {
    name: 'select',
    path: () => 'Deal',
    arrange: async (page) => {
      for (const row of [0, 2]) await page.locator('tbody .select input').nth(row).click()
      await page.getByText('2 selected').waitFor()
    },
  },
  {
    name: 'menu',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Actions for' }).first().click()
      await page.getByRole('menu').waitFor()
    },
  },
  {
    name: 'palette',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search and commands' }).fill('lumen')
      await page.getByRole('option', { name: /^Lumen Energy Organization/ }).waitFor()
    },
  },
  {
    name: 'picker',
    path: () => 'Contact',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'New contact' }).click()
      await page.getByRole('combobox', { name: 'Organization' }).pressSequentially('l')
      await page.getByRole('option', { name: 'Lumen Energy' }).waitFor()
    },
  },
  { name: 'past', path: () => `Deal?asOf=${new Date(Date.now() - 4 * MONTH).toISOString()}` },
  { name: 'entity', path: async (stage) => `Contact/${await someone(stage)}` },
  {
    name: 'create',
    path: () => 'Contact',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'New contact' }).click()
      await page.getByRole('dialog').waitFor()
    },
  },
  { name: 'empty', path: () => 'Pipeline', isPlain: true },
  {
    name: 'gone',
    path: () => 'Contact/contact_0000000000000000',
    arrange: (page) => page.getByText('There never was').waitFor(),
    isPlain: true,
  },
  {
    name: 'help',
    path: () => 'Deal',
    arrange: async (page) => {
      await page.keyboard.press('?')
      await page.getByRole('dialog', { name: 'Keyboard' }).waitFor()
    },
    isPlain: true,
  },
  { name: 'events', path: () => 'events', arrange: (page) => page.locator('.tail summary').first().waitFor() },
  {
    name: 'changesets',
    path: async (stage) => {
      await changeset(stage)
      return 'changesets'
    },
    arrange: (page) => page.locator('tbody tr').first().waitFor(),
  },
  {
    name: 'review',
    path: async (stage) => `changesets/${await changeset(stage)}`,
    arrange: async (page) => {
      await page.locator('.review-change ins').first().waitFor()
      await page.locator('.effect dd').first().waitFor()
    },
  },
  {
    name: 'proof',
    path: async (stage) => `Contact/${await someone(stage)}`,
    arrange: async (page) => {
      await page.locator('.moment').getByRole('button', { name: 'Proof' }).first().click()
      await page.getByRole('dialog').getByText('in the signed history of').waitFor()
    },
  },
  {
    name: 'workflow',
    path: async (stage) => `Workflow/${await workflow(stage)}`,
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Try it without a trace' }).click()
      await page.getByText('It would run').waitFor()
      await page.locator('main').evaluate((main) => main.scrollTo(0, 0))
    },
  },
  {
    name: 'runs',
    path: async (stage) => `Workflow/${await workflow(stage)}`,
    arrange: async (page) => {
      const runs = page.getByRole('region', { name: 'Runs' })
      await runs.locator('summary').first().click()
      await runs.locator('.attempts li').first().waitFor()
      await runs.evaluate((region) => region.scrollIntoView({ block: 'center' }))
    },
  },
  { name: 'bin', path: async (stage) => `bin?type=${await deletedType(stage)}` },
  {
    name: 'dashboards',
    path: async (stage) => `dashboards/${await dashboard(stage)}`,
    arrange: (page) => page.getByRole('img', { name: /^Deals by stage/ }).waitFor(),
  },
  {
    name: 'metrics',
    path: () => 'metrics',
    arrange: async (page) => {
      await page.getByRole('img', { name: /^Churn/ }).waitFor()
      await page.getByRole('button', { name: 'Count' }).click()
      await page.getByRole('img', { name: /^From visit/ }).waitFor()
    },
  },
  {
    name: 'query',
    path: () => 'query',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Large open deals' }).click()
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByLabel('Answer', { exact: true }).waitFor()
    },
  },
  {
    name: 'agent',
    path: () => 'agent',
    arrange: async (page) => {
      await page.getByRole('button', { name: 'Run' }).click()
      await page.getByLabel('Result').waitFor()
    },
  },
  {
    name: 'import',
    path: () => 'import',
    arrange: async (page) => {
      const buffer = Buffer.from('Name;E-Mail;Lead score\nGrete Hermann;grete@example.com;71\n;nobody@example.com;3\n')
      await page.getByLabel('File to import').setInputFiles({ name: 'people.csv', mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Check without writing' }).click()
      await page.getByText('Would be imported').waitFor()
    },
  },
  { name: 'type-list', path: () => 'types', arrange: (page) => page.locator('tbody tr').first().waitFor() },
  {
    name: 'hook',
    path: () => 'types/Campaign',
    arrange: async (page) => {
      await page.getByLabel('Step').selectOption('creating')
      await page.getByRole('textbox', { name: 'Code of creating' }).click()
      await page.keyboard.press('Control+a')
      await page.keyboard.insertText('(campaign) => ({ name: campaign.name.trim() + " 2027", budget: 5000 })')
      await page.getByRole('button', { name: 'Try it without a trace' }).click()
      await page.getByText('Tried on').waitFor()
      await page.getByText('Tried on').evaluate((text) => text.scrollIntoView({ block: 'center' }))
    },
  },
  {
    name: 'types',
    path: async (stage) => `types/${await ownType(stage)}`,
    arrange: (page) => page.getByLabel('Effect').waitFor(),
  },
  {
    name: 'webhooks',
    path: async (stage, receiver) => `webhooks/${await webhook(stage, receiver)}`,
    arrange: (page) => page.locator('.tail summary').first().waitFor(),
  },
  { name: 'keys', path: () => 'keys', arrange: (page) => page.locator('tbody tr').first().waitFor() },
  {
    name: 'people',
    path: async (stage) => {
      await people(stage)
      return 'people'
    },
    arrange: (page) => page.locator('tbody tr').first().waitFor(),
  },
  {
    name: 'roles',
    path: async (stage) => {
      await people(stage)
      return 'roles'
    },
    arrange: (page) => page.getByText('Seller').waitFor(),
  },
  {
    name: 'account',
    path: () => 'account',
    isSignedIn: true,
    arrange: (page) => page.getByText('(this one)').waitFor(),
  },
]

const DAY = 86_400_000

/** Deals and tickets of a person, some of them due, in a tenant that has a name. */
async function morning({ host }: Stage, user: string): Promise<void> {
  await host.request('PUT', '/~acme/schema/Setting', { $domain: 'platform', name: 'string!##', value: 'json' })
  await host.request('POST', '/~acme/Setting', { name: 'name', value: 'Acme Energy' })
  await host.request('POST', '/~acme/Setting', { name: 'currency', value: 'EUR' })
  const give = async (path: string, fields: (at: number) => object) => {
    const { results } = (await host.request('GET', path)).body
    for (const [at, { $type, $id }] of results.entries())
      await host.request('PUT', `/~acme/${$type}/${$id}`, fields(at))
  }
  await give('/~acme/Deal?stage=Negotiation&limit=3', () => ({ owner: user }))
  await give('/~acme/Ticket?status=Open&limit=4', (at) => ({
    assignee: user,
    ...(at < 2 && { dueAt: new Date(Date.now() + (at === 0 ? -DAY : DAY)).toISOString() }),
  }))
}

/** A webhook that has got a few events. */
async function webhook({ host }: Stage, receiver: Receiver): Promise<string> {
  const { body } = await host.request('POST', '/~acme/webhooks', { url: receiver.url, events: ['Deal.*'] })
  for (const name of ['Field Notes pilot', 'Juniper Labs pilot']) await host.request('POST', '/~acme/Deal', { name })
  await host.request('POST', `/~acme/webhooks/${body.$id}/test`)
  return body.$id
}

const TITLES = ['Director', 'Partner', 'Head of operations']
let made = 0

/** A proposal of an agent, half of which is in conflict with what others did meanwhile. */
async function changeset({ host }: Stage): Promise<string> {
  const agent = host.as(await host.key('acme', 'propose:crm', { name: 'Research agent' }))
  const contacts = (await host.request('GET', '/~acme/Contact?limit=6')).body.results
  const [organization] = (await host.request('GET', '/~acme/Organization?limit=1')).body.results
  const operations = contacts.map(({ $id }: { $id: string }, at: number) => ({
    method: 'PUT',
    path: `/Contact/${$id}`,
    body: { title: 'Head of Research', leadScore: 50 + at, organization: organization.$id },
  }))
  const { results } = (await host.request('GET', '/~acme/Deal?stage=Negotiation&limit=1')).body
  operations.push(...results.map(({ $id }: { $id: string }) => ({ method: 'POST', path: `/Deal/${$id}/win` })))
  const query = 'propose=Clean%20up%20after%20the%20import&reason=Titles%20and%20organizations%20were%20missing.'
  const { body } = await agent('POST', `/~acme/batch?${query}`, { operations })
  // Another title each time: the same one again would be no change, and no conflict.
  const title = TITLES[made++ % TITLES.length]!
  for (const { $id } of contacts.slice(0, 2)) await host.request('PUT', `/~acme/Contact/${$id}`, { title })
  await host.request('POST', `/~acme/changesets/${body.$id}/comment`, { text: 'Is the second one right?' })
  return body.$id
}

/** A type of which something was deleted. */
async function deletedType({ host }: Stage): Promise<string> {
  for (const name of ['Old roadmap', 'Old budget']) {
    const { body } = await host.request('POST', '/~acme/Project', { name })
    await host.request('DELETE', `/~acme/Project/${body.$id}`)
  }
  return 'Project'
}

async function dashboard({ host }: Stage): Promise<string> {
  await host.request('PUT', '/~acme/schema/Dashboard', {
    name: 'string!',
    tiles: 'json',
    shared: 'boolean',
    owner: 'string#',
  })
  const tiles = [
    { title: 'Deals by stage', source: 'count', of: 'Deal', group: 'stage' },
    { title: 'Pipeline', source: 'metric', of: 'pipeline' },
    { title: 'MRR', source: 'metric', of: 'mrr' },
    { title: 'Tickets by status', source: 'count', of: 'Ticket', group: 'status' },
  ]
  return (await host.request('POST', '/~acme/Dashboard', { name: 'Sales', tiles })).body.$id
}

async function ownType({ host }: Stage): Promise<string> {
  await host.request('PUT', '/~acme/schema/Boat', {
    name: 'string!',
    sign: 'string##',
    length: 'number',
    status: 'Moored | Sailing | Repaired = Moored',
    owner: '-> Contact',
    sail: { from: ['Moored'], set: { status: 'Sailing' } },
  })
  return 'Boat'
}

async function someone({ host }: Stage): Promise<string> {
  const { body } = await host.request('GET', '/~acme/Contact?stage=Qualified&limit=1')
  return body.results[0].$id
}

/** A workflow that ran twice, once without success. */
async function workflow({ host }: Stage): Promise<string> {
  const { body } = await host.request('POST', '/~acme/Workflow', {
    name: 'A project for each deal that is won',
    triggerEvent: 'Deal.won',
    filter: { value: { $gte: 1_000 } },
    steps: [
      { verb: 'create', type: 'Project', args: { name: '$event.data.name', budget: '$event.data.value' } },
      { verb: 'complete', type: 'Activity', id: '$event.data.activity' },
    ],
    errorHandling: 'Continue',
    retryPolicy: { retries: 0 },
  })
  await host.request('POST', `/~acme/Workflow/${body.$id}/activate`)
  const deal = await host.request('POST', '/~acme/Deal', {
    name: 'Lumen Energy roof',
    value: 5_000,
    stage: 'Negotiation',
  })
  await host.request('POST', `/~acme/Deal/${deal.body.$id}/win`)
  const ended = async () =>
    (await host.request('GET', `/~acme/Workflow/${body.$id}/runs`)).body.results.filter((run: any) => run.endedAt)
      .length
  await expect.poll(ended).toBe(1)
  return body.$id
}

/** People in every state, and a role of the tenant's own. */
async function people({ host }: Stage): Promise<void> {
  const filter = { Deal: { owner: '$user.$id' } }
  await host.request('PUT', '/~acme/schema/roles/Seller', { scopes: 'write:crm', filter })
  if ((await host.request('GET', '/~acme/User/count')).body.count > 2) return
  await person(host, 'acme', { name: 'Ada Byron', email: 'ada@example.com', role: 'Seller' })
  const gone = await person(host, 'acme', { name: 'Grace Murray', email: 'grace@example.com', role: 'Viewer' })
  await host.request('POST', `/~acme/User/${gone.user.$id}/suspend`)
  await invite(host, 'acme', { name: 'Alan Mathison', email: 'alan@example.com', role: 'Member' })
}
