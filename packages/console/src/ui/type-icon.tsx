import type { Catalogue } from '@tildebase/nouns'

/** The drawings of the built-in types, on a grid of 16 by 16, as strokes. */
const PATHS: { readonly [name in keyof Catalogue]: string } = {
  Activity: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.5 8.2l1.8 1.8 3.2-3.7',
  Contact: 'M8 8a2.8 2.8 0 1 0 0-5.6A2.8 2.8 0 0 0 8 8zM2.5 13.5a5.5 4 0 0 1 11 0',
  Deal: 'M4.5 3h7L14 6.5l-6 7-6-7zM2 6.5h12M8 13.5l-2.3-7L8 3l2.3 3.5z',
  Lead: 'M8 2v3.5M8 10.5V14M2 8h3.5M10.5 8H14M4 4l1.8 1.8M10.2 10.2 12 12M12 4l-1.8 1.8M5.8 10.2 4 12',
  Organization: 'M3.5 14V2.5h6V14M9.5 7h3v7M2 14h12M5.5 5.5h2M5.5 8h2M5.5 10.5h2',
  Pipeline: 'M2 5h3.5l2 3-2 3H2l2-3zM8.5 5H12l2 3-2 3H8.5l2-3z',
  Customer: 'M6.5 8a2.7 2.7 0 1 0 0-5.4 2.7 2.7 0 0 0 0 5.4zM1.5 13.5a5 4 0 0 1 10 0M10.5 6.5 12 8l2.5-3',
  Invoice: 'M3.5 14V2.5h9V14l-1.8-1.2L9.2 14 8 12.8 6.8 14l-1.5-1.2zM6 5.5h4M6 8.3h4',
  Payment: 'M2 4h12v8.5H2zM2 7h12M4.5 10H7',
  Plan: 'M8 2.5 14 5.5l-6 3-6-3zM2 8.3l6 3 6-3M2 11l6 3 6-3',
  Price: 'M2.5 2.5H8l5.6 5.6a1 1 0 0 1 0 1.4l-4.1 4.1a1 1 0 0 1-1.4 0L2.5 8zM5.3 5.3v0',
  Product: 'M2.5 5.5h11v8h-11zM2.5 5.5l1.5-3h8l1.5 3M6.5 8h3',
  Subscription: 'M3 7a5 5 0 0 1 8.5-2.5L13 6M13 2.8V6H9.8M13 9a5 5 0 0 1-8.5 2.5L3 10M3 13.2V10h3.2',
  Comment: 'M2.5 3h11v8h-6l-3 2.5V11h-2zM5.5 6h5M5.5 8.2h3',
  Issue: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 9.5a1.5 1.5 0 1 0 0-3 1.5 1.5 0 0 0 0 3z',
  Project: 'M2 4.5a1 1 0 0 1 1-1h3.2l1.5 1.7H13a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z',
  Asset: 'M2.5 3h11v10h-11zM5.7 6.2v0M2.5 11 6 8l2.5 2 2-1.5 3 2.5',
  Content: 'M4 2.5h5.5l3 3v8H4zM9.5 2.5v3h3M6 8.5h4.5M6 11h4.5',
  Site: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c-3.5 3.5-3.5 8.5 0 12M8 2c3.5 3.5 3.5 8.5 0 12',
  Ticket: 'M2 4.5h12v2a1.5 1.5 0 0 0 0 3v2H2v-2a1.5 1.5 0 0 0 0-3zM9.5 4.5v7',
  Event: 'M9 2 3.5 9H8l-1 5 5.5-7H8z',
  Funnel: 'M2 3h12L9.5 8.5V12l-3 1.5v-5z',
  Goal: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 8v0',
  Metric: 'M2.5 2.5v11h11M5 10l2.5-3 2.5 2 3.5-4.5',
  Campaign: 'M3 6.5h2l6-3v9l-6-3H3zM5 9.5l1 4h1.7L7 10.5M13 6.5a2 2 0 0 1 0 3',
  Form: 'M3.5 2.5h9v11h-9zM5.7 5h4.6v2.3H5.7zM5.7 10h4.6',
  Segment: 'M6.5 4A5 5 0 1 0 12 9.5H6.5zM9 2a5 5 0 0 1 5 5H9z',
  Experiment: 'M6.5 2.5h3M7 2.5v4l-3.8 6a.7.7 0 0 0 .6 1h8.4a.7.7 0 0 0 .6-1L9 6.5v-4M5 10h6',
  FeatureFlag: 'M4 14V2.5M4 3.5h8.5l-2 2.7 2 2.8H4',
  Agent: 'M3.5 6h9a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zM8 6V3M5.5 9.5v0M10.5 9.5v0',
  Integration: 'M6 2v3M10 2v3M4 5h8v2.5a4 4 0 0 1-8 0zM8 11.5V14',
  Workflow: 'M2.5 2.5h4v4h-4zM9.5 9.5h4v4h-4zM4.5 6.5v3a2 2 0 0 0 2 2h3',
  ApiKey: 'M10 9.5a3.5 3.5 0 1 0-3.3-2.3l-4.2 4.3v2H5V12h1.5v-1.5l1.3-1.3a3.5 3.5 0 0 0 2.2.3zM11 5v0',
  User: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.3 12.5a4 3 0 0 1 7.4 0',
  Message: 'M2 3.5h12v9H2zM2 4.5l6 4.5 6-4.5',
  Webhook: 'M6 6.5a2.5 2.5 0 1 1 3.5 2.3M8.5 6.5l2.3 4M5.5 8.5a2.8 2.8 0 1 0 1.8 3h4.2',
  Changeset: 'M2.5 9.5h3l1 2h3l1-2h3M2.5 9.5l2-6h7l2 6v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z',
}

/** What a tenant declared itself: a cube. */
const NEUTRAL = 'M8 2.5 13.5 5.5v5L8 13.5l-5.5-3v-5zM2.5 5.5l5.5 3 5.5-3M8 8.5v5'

/** The small drawing of a type. It says nothing that the name beside it does not. */
export function TypeIcon({ type }: { type: string }) {
  return (
    <svg class="icon icon-type" viewBox="0 0 16 16" aria-hidden="true">
      <path d={Object.hasOwn(PATHS, type) ? PATHS[type as keyof Catalogue] : NEUTRAL} />
    </svg>
  )
}
