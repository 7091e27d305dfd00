import { DOMAINS } from '../packages/nouns/src/lens.ts'

const item = (text: string, link: string) => ({ text, link })

export const nav = [
  item('Start', '/start'),
  item('Guides', '/guides/'),
  item('Reference', '/reference/'),
  item('Operations', '/operations'),
]

export const sidebar = [
  {
    text: 'Start',
    items: [
      item('All pages', '/'),
      item('Start', '/start'),
      item('The API', '/api'),
      item('The client', '/client'),
      item('The command line', '/cli'),
      item('The console', '/console'),
    ],
  },
  {
    text: 'Guides',
    items: [
      item('All guides', '/guides/'),
      item('A live board with Vite', '/guides/vite'),
      item('Next.js', '/guides/nextjs'),
      item('Python', '/guides/python'),
      item('Model your business', '/guides/model-your-business'),
      item('Connect an agent', '/guides/connect-an-agent'),
      item('Receive webhooks', '/guides/receive-webhooks'),
      item('A browser app without a key', '/guides/browser-app'),
      item('Move from another service', '/guides/migrate'),
      item('Backup and restore drill', '/guides/backup-drill'),
      item('Beyond one machine', '/guides/beyond-one-machine'),
    ],
  },
  {
    text: 'Subjects',
    collapsed: true,
    items: [
      item('Types', '/types'),
      item('Batch', '/batch'),
      item('Changesets', '/changesets'),
      item('Events', '/events'),
      item('Webhooks', '/webhooks'),
      item('Hooks', '/hooks'),
      item('Timers and workflows', '/automation'),
      item('Agents', '/agents'),
      item('People', '/people'),
      item('Metrics', '/metrics'),
      item('Import and export', '/import-export'),
      item('An imported past', '/history'),
      item('Connectors', '/connect/'),
      item('Synchronisation', '/sync'),
      item('Proof of history', '/proof'),
    ],
  },
  {
    text: 'Reference',
    items: [
      item('Overview', '/reference/'),
      item('Query language', '/reference/query'),
      {
        text: 'Built-in types',
        link: '/reference/types/',
        collapsed: true,
        items: DOMAINS.map((domain) => item(domain, `/reference/types/${domain}`)),
      },
      item('Endpoints', '/reference/endpoints'),
      item('Keys, scopes and roles', '/reference/access'),
      item('Events', '/reference/events'),
      item('Limits and settings', '/reference/settings'),
      item('Command line', '/reference/cli'),
      item('Errors', '/reference/errors'),
    ],
  },
  {
    text: 'Operations',
    collapsed: true,
    items: [
      item('Running it', '/operations'),
      item('Reliability', '/reliability'),
      item('Performance', '/performance'),
      item('Threat model', '/security'),
      item('A cluster', '/cluster'),
      item('On Cloudflare', '/cloudflare'),
    ],
  },
  {
    text: 'Design',
    collapsed: true,
    items: [
      item('Architecture', '/design/architecture'),
      item('The hosts', '/design/hosts'),
      item('Decisions', '/decisions/'),
      item('Dependencies', '/dependencies'),
      item('Specification', '/spec/'),
    ],
  },
  {
    text: 'Notes',
    collapsed: true,
    items: [
      item('All notes', '/notes/'),
      item('Figures', '/notes/figures'),
      item('Performance', '/notes/performance'),
      item('Tests of the threat model', '/notes/threats'),
      item('The cluster', '/notes/cluster'),
      item('The console', '/notes/console'),
      item('Reliability', '/notes/reliability'),
      item('Cloudflare', '/notes/cloudflare'),
      item('Operations', '/notes/operations'),
    ],
  },
]
