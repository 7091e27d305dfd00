import { type Tildebase, tildebase } from '@tildebase/client'

/**
 * Lead routing: each submission of a form becomes a lead, the people of sales take turns as its owner, and the owner gets
 * a follow-up with a reminder on the next day. One workflow; the reminder is a timer of Activity.
 *
 * Run it with `node examples/lead-routing.ts`; TILDE_URL, TILDE_KEY and TILDE_TENANT say where.
 */
const DAY = 86_400_000

/** Adds the workflow to a tenant. The owners are the contacts whose title is Sales, by name. */
export async function installLeadRouting($: Tildebase): Promise<string> {
  const { $id } = await $.Workflow.create({
    name: 'Route the leads of forms',
    triggerEvent: 'Form.submitted',
    // Runs of a workflow come one after the other, so counting the leads takes turns fairly.
    steps: [
      {
        code: `async (event, $) => {
          const owners = await $.Contact.find({ title: 'Sales' }, { sort: { name: 1 }, limit: 100 })
          if (owners.length === 0) throw new Error('No contact has the title Sales.')
          const leads = await $.Lead.count({ source: 'Form' })
          return {
            owner: owners[leads % owners.length].$id,
            tomorrow: new Date(Date.parse(event.timestamp) + ${DAY}).toISOString(),
          }
        }`,
      },
      {
        verb: 'create',
        type: 'Lead',
        args: {
          name: '$event.args.name',
          need: '$event.args.message',
          source: 'Form',
          sourceDetail: '$event.data.name',
          owner: '$steps.0.owner',
        },
      },
      {
        verb: 'create',
        type: 'Activity',
        args: {
          subject: 'Follow up',
          type: 'FollowUp',
          description: '$steps.1.name',
          assignee: '$steps.0.owner',
          dueAt: '$steps.0.tomorrow',
          reminderAt: '$steps.0.tomorrow',
        },
      },
    ],
    retryPolicy: { retries: 3, backoff: '10s' },
  })
  await $.Workflow.activate($id)
  return $id
}

if (import.meta.main) {
  const { TILDE_URL = 'http://localhost:8787', TILDE_KEY = '', TILDE_TENANT = 'leads' } = process.env
  const $ = tildebase({ tenant: TILDE_TENANT, apiKey: TILDE_KEY, baseUrl: TILDE_URL })
  await installLeadRouting($)
  for (const name of ['Ada', 'Bob']) await $.Contact.create({ name, title: 'Sales' })
  const form = await $.Form.create({ name: 'Contact us' })
  await $.Form.publish(form.$id)
  const people = ['Cleo', 'Dan', 'Eve']
  for (const name of people) await $.Form.submit(form.$id, { name, message: 'Call me.' })
  while ((await $.Activity.count()) < people.length) await new Promise((done) => setTimeout(done, 100))
  for (const lead of await $.Lead.find({}, { sort: { name: 1 }, include: ['owner'] })) {
    console.log(`${lead.name} → ${lead.owner?.name}`)
  }
}
