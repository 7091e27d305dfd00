import { noun } from '../notation/notation.ts'

/** A campaign to get leads. */
export const Campaign = noun('Campaign', {
  $domain: 'marketing',
  name: 'string!',
  slug: 'string##',
  description: 'string',
  type: 'Email | Social | Content | Event | Paid | Webinar | Referral',
  status: 'Draft | Scheduled | Active | Launched | Paused | Completed | Cancelled = Draft',
  startDate: 'date',
  endDate: 'date',
  launchedAt: 'datetime',
  budget: 'number',
  actualCost: 'number',
  currency: 'string',
  targetLeads: 'number',
  targetRevenue: 'number',
  actualLeads: 'number',
  actualRevenue: 'number',
  roi: 'number',
  landingPageUrl: 'string',
  utmSource: 'string',
  utmMedium: 'string',
  utmCampaign: 'string',
  leads: '<- Lead.campaign[]',
  organization: '-> Organization',
  owner: '-> User | Contact',
  launch: {
    event: 'launched',
    from: ['Draft', 'Scheduled', 'Active', 'Paused'],
    set: { status: 'Launched', launchedAt: '$now' },
  },
  pause: { event: 'paused', from: ['Active', 'Launched'], set: { status: 'Paused' } },
  complete: { event: 'completed', from: ['Active', 'Launched', 'Paused'], set: { status: 'Completed' } },
  cancel: {
    event: 'cancelled',
    from: ['Draft', 'Scheduled', 'Active', 'Launched', 'Paused'],
    set: { status: 'Cancelled' },
  },
})

/** Questions that visitors answer. */
export const Form = noun('Form', {
  $domain: 'marketing',
  name: 'string!',
  description: 'string',
  fields: 'string',
  status: 'Draft | Active | Published | Archived = Draft',
  submissionCount: 'number',
  organization: '-> Organization',
  publish: { event: 'published', from: ['Draft', 'Active', 'Archived'], set: { status: 'Published' } },
  archive: { event: 'archived', from: ['Draft', 'Active', 'Published'], set: { status: 'Archived' } },
  submit: { event: 'submitted', from: ['Active', 'Published'], set: { submissionCount: '$computed' }, keeps: 'event' },
})

/** A part of the audience, by criteria. */
export const Segment = noun('Segment', {
  $domain: 'marketing',
  name: 'string!',
  description: 'string',
  criteria: 'string',
  memberCount: 'number',
  isDynamic: 'boolean',
  organization: '-> Organization',
  refresh: { event: 'refreshed', set: { memberCount: '$computed' } },
})
