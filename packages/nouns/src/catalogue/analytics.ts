import { noun } from '../notation/notation.ts'

/** A tracked event, or the event of a verb. It cannot be changed. */
export const Event = noun(
  'Event',
  {
    $domain: 'analytics',
    name: 'string!',
    type: 'string!',
    data: 'json',
    source: 'Browser | Node | API | Snippet',
    sessionId: 'string',
    userId: 'string',
    anonymousId: 'string',
    timestamp: 'datetime! = now',
    url: 'string',
    path: 'string',
    referrer: 'string',
    properties: 'json',
    organization: '-> Organization',
    update: null,
    delete: null,
  },
  { storage: 'log' },
)

/** Steps by event name, with the number of actors that complete them. */
export const Funnel = noun('Funnel', {
  $domain: 'analytics',
  name: 'string!',
  description: 'string',
  steps: 'json',
  conversionRate: 'number',
  organization: '-> Organization',
  analyze: { event: 'analyzed', set: { conversionRate: '$computed' }, args: 'filter' },
  activate: { event: 'activated' },
})

/** A target for a metric. */
export const Goal = noun('Goal', {
  $domain: 'analytics',
  name: 'string!',
  description: 'string',
  target: 'number!',
  current: 'number',
  unit: 'string',
  period: 'Daily | Weekly | Monthly | Quarterly | Yearly',
  status: 'OnTrack | AtRisk | Behind | Achieved | Completed | Missed | Reset = OnTrack',
  metric: '-> Metric',
  organization: '-> Organization',
  achieve: { event: 'achieved', from: ['OnTrack', 'AtRisk', 'Behind'], set: { status: 'Achieved' } },
  complete: { event: 'completed', from: 'Achieved', set: { status: 'Completed' } },
  miss: { event: 'missed', from: ['OnTrack', 'AtRisk', 'Behind'], set: { status: 'Missed' } },
  reset: { event: 'reset', from: '*', set: { status: 'OnTrack' } },
})

/** A value that is measured over time. */
export const Metric = noun('Metric', {
  $domain: 'analytics',
  name: 'string!',
  value: 'number!',
  type: 'Counter | Gauge | Histogram | Summary',
  unit: 'string',
  dimensions: 'string',
  timestamp: 'datetime',
  organization: '-> Organization',
  record: { event: 'recorded', set: { value: '$args.value', timestamp: '$now' }, args: 'value' },
  reset: { event: 'reset', set: { value: 0 } },
  snapshot: { event: 'snapshotted', keeps: 'event' },
})
