import type { Catalogue } from '@tildebase/nouns'

/** The drawings of the built-in types, on a grid of 16 by 16, as strokes. */
const PATHS: { readonly [name in keyof Catalogue]: string } = {
  Activity: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM5.500 8.200l1.800 1.800 3.200-3.700',
  Contact: 'M8 8a2.800 2.800 0 1 0 0-5.600A2.800 2.800 0 0 0 8 8zM2.500 13.500a5.500 4 0 0 1 11 0',
  Deal: 'M4.500 3h7L14 6.500l-6 7-6-7zM2 6.500h12M8 13.500l-2.300-7L8 3l2.300 3.500z',
  Lead: 'M8 2v3.500M8 10.500V14M2 8h3.500M10.500 8H14M4 4l1.800 1.800M10.200 10.200 12 12M12 4l-1.800 1.800M5.800 10.200 4 12',
  Organization: 'M3.500 14V2.500h6V14M9.500 7h3v7M2 14h12M5.500 5.500h2M5.500 8h2M5.500 10.500h2',
  Pipeline: 'M2 5h3.500l2 3-2 3H2l2-3zM8.500 5H12l2 3-2 3H8.500l2-3z',
  Customer:
    'M6.500 8a2.700 2.700 0 1 0 0-5.400 2.700 2.700 0 0 0 0 5.400zM1.500 13.500a5 4 0 0 1 10 0M10.500 6.500 12 8l2.500-3',
  Invoice: 'M3.500 14V2.500h9V14l-1.800-1.200L9.200 14 8 12.800 6.800 14l-1.500-1.200zM6 5.500h4M6 8.300h4',
  Payment: 'M2 4h12v8.500H2zM2 7h12M4.500 10H7',
  Plan: 'M8 2.500 14 5.500l-6 3-6-3zM2 8.300l6 3 6-3M2 11l6 3 6-3',
  Price: 'M2.500 2.500H8l5.600 5.600a1 1 0 0 1 0 1.400l-4.100 4.100a1 1 0 0 1-1.400 0L2.500 8zM5.300 5.300v0',
  Product: 'M2.500 5.500h11v8h-11zM2.500 5.500l1.500-3h8l1.500 3M6.500 8h3',
  Subscription: 'M3 7a5 5 0 0 1 8.500-2.500L13 6M13 2.800V6H9.800M13 9a5 5 0 0 1-8.500 2.500L3 10M3 13.200V10h3.200',
  Comment: 'M2.500 3h11v8h-6l-3 2.500V11h-2zM5.500 6h5M5.500 8.200h3',
  Issue: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 9.500a1.500 1.500 0 1 0 0-3 1.500 1.500 0 0 0 0 3z',
  Project: 'M2 4.500a1 1 0 0 1 1-1h3.200l1.500 1.700H13a1 1 0 0 1 1 1V12a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z',
  Asset: 'M2.500 3h11v10h-11zM5.700 6.200v0M2.500 11 6 8l2.500 2 2-1.500 3 2.500',
  Content: 'M4 2.500h5.500l3 3v8H4zM9.500 2.500v3h3M6 8.500h4.500M6 11h4.500',
  Site: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM2 8h12M8 2c-3.500 3.500-3.500 8.500 0 12M8 2c3.500 3.500 3.500 8.500 0 12',
  Ticket: 'M2 4.500h12v2a1.500 1.500 0 0 0 0 3v2H2v-2a1.500 1.500 0 0 0 0-3zM9.500 4.500v7',
  Event: 'M9 2 3.500 9H8l-1 5 5.500-7H8z',
  Funnel: 'M2 3h12L9.500 8.500V12l-3 1.500v-5z',
  Goal: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 8v0',
  Metric: 'M2.500 2.500v11h11M5 10l2.500-3 2.500 2 3.500-4.500',
  Campaign: 'M3 6.500h2l6-3v9l-6-3H3zM5 9.500l1 4h1.700L7 10.500M13 6.500a2 2 0 0 1 0 3',
  Form: 'M3.500 2.500h9v11h-9zM5.700 5h4.600v2.300H5.700zM5.700 10h4.600',
  Segment: 'M6.500 4A5 5 0 1 0 12 9.500H6.500zM9 2a5 5 0 0 1 5 5H9z',
  Experiment: 'M6.500 2.500h3M7 2.500v4l-3.800 6a.700.700 0 0 0 .600 1h8.400a.700.700 0 0 0 .600-1L9 6.500v-4M5 10h6',
  FeatureFlag: 'M4 14V2.500M4 3.500h8.500l-2 2.700 2 2.800H4',
  Agent:
    'M3.500 6h9a1 1 0 0 1 1 1v5a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1V7a1 1 0 0 1 1-1zM8 6V3M5.500 9.500v0M10.500 9.500v0',
  Integration: 'M6 2v3M10 2v3M4 5h8v2.500a4 4 0 0 1-8 0zM8 11.500V14',
  Workflow: 'M2.500 2.500h4v4h-4zM9.500 9.500h4v4h-4zM4.500 6.500v3a2 2 0 0 0 2 2h3',
  ApiKey:
    'M10 9.500a3.500 3.500 0 1 0-3.300-2.300l-4.200 4.300v2H5V12h1.500v-1.500l1.300-1.300a3.500 3.500 0 0 0 2.200.300zM11 5v0',
  User: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4.300 12.500a4 3 0 0 1 7.400 0',
  Message: 'M2 3.500h12v9H2zM2 4.500l6 4.500 6-4.500',
  Webhook: 'M6 6.500a2.500 2.500 0 1 1 3.500 2.300M8.500 6.500l2.300 4M5.500 8.500a2.800 2.800 0 1 0 1.800 3h4.200',
  Changeset: 'M2.500 9.500h3l1 2h3l1-2h3M2.500 9.500l2-6h7l2 6v3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z',
}

/** What a tenant declared itself: a cube. */
const NEUTRAL = 'M8 2.500 13.500 5.500v5L8 13.500l-5.500-3v-5zM2.500 5.500l5.500 3 5.500-3M8 8.500v5'

/** The small drawing of a type. It says nothing that the name beside it does not. */
export function TypeIcon({ type }: { type: string }) {
  return (
    <svg class="icon icon-type" viewBox="0 0 16 16" aria-hidden="true">
      <path d={Object.hasOwn(PATHS, type) ? PATHS[type as keyof Catalogue] : NEUTRAL} />
    </svg>
  )
}
