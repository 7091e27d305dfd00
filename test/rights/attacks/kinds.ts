import type { Kind } from '../../../packages/tenant/src/authorship/stored.ts'

/** Kinds of stored things that have no author of their own: another thing, or a person or a key of now, decides. */
export const DEPENDENT_KINDS = [
  'run',
  'wait',
  'ask',
  'secret',
  'subscription',
  'file link',
  'upload',
  'mail server',
  'notice',
  'changeset',
] as const

export type DependentKind = (typeof DEPENDENT_KINDS)[number]

/** What a table of a tenant's file holds: kinds of stored things, or the reason why none of its rows acts or shows anything. */
type Held = readonly (Kind | DependentKind)[] | string

const STATE = 'state and log, which are read with the rights of the reader'
const INDEX = 'an index of the states and the log'
const SIGN_IN = 'how people and keys prove who they are'
const QUEUE = 'work of things that have a row of their own'

/** Every table of a tenant's file. A new one needs a line, and what it holds needs attacks. */
export const TABLES: { readonly [table: string]: Held } = {
  answers: 'answers to repeated requests, shown to the same key if it may still send the request',
  after_hook_queue: QUEUE,
  asks: ['ask'],
  authors: 'the authors themselves',
  blobs_to_remove: 'keys of contents that nothing names',
  clients: SIGN_IN,
  clocks: INDEX,
  consents: ['consent rows'],
  content_senders: ['upload'],
  content_uses: ['file link'],
  contents: ['upload'],
  credentials: SIGN_IN,
  entities: STATE,
  event_subscriptions: ['subscription'],
  field_index: INDEX,
  fields: INDEX,
  integrations: ['integration', 'mail server'],
  keys: SIGN_IN,
  log: STATE,
  mail_counts: 'how much a tenant has sent',
  mails: ['mail server'],
  meta: 'settings of the file',
  names: INDEX,
  notices: ['notice'],
  outbox: QUEUE,
  receivers: ['webhook', 'subscription'],
  secrets: ['secret'],
  synced: 'digests of what was synced',
  text: INDEX,
  timer_scans: QUEUE,
  timers: ['timer'],
  tokens: SIGN_IN,
  tree: INDEX,
  upload_parts: ['upload'],
  uploads: ['upload'],
  versions: STATE,
  waits: ['wait'],
  workflow_calls: QUEUE,
  workflow_runs: ['run', 'agent'],
  workflow_steps: ['run'],
  workflows: ['workflow'],
}

/** Tables that change only together with the log. */
export const IN_THE_LOG = ['clocks', 'entities', 'field_index', 'log', 'text', 'tree', 'versions']

/** Every type of the service's own, and the kinds that its entities are. A new one needs a line. */
export const SERVICE_NOUNS: { readonly [type: string]: Held } = {
  AccessRole: ['role rows'],
  ApiKey: ['key rows'],
  ChangesetPart: ['changeset'],
  Erasure: 'the record of an erasure, without a value',
  Hook: ['hook'],
  Integration: ['integration', 'mail server'],
  MailInbox: 'addresses of the inbox, set by administrators',
  NoticeChoices: 'which notices a person gets by e-mail',
  Schema: ['timer', 'computed', 'guard', 'migration'],
  TenantSecret: ['secret'],
  User: 'people, whose rights are their role',
  Webhook: ['webhook'],
  Workflow: ['workflow'],
}
