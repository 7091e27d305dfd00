import { requirements } from './requirement.ts'

/** What a grant may see and do, and how much one request may use. */
export const rights = requirements('keys', {
  N1: {
    'rights.walk': 'No answer of any route, tool, script function or stream holds what the grant does not cover.',
    'rights.records': 'A narrowed key sees a log record if the state in the record matches its row filter.',
    'rights.erase': 'A narrowed key erases only rows that it sees.',
    'rights.history': 'History and diff show only versions whose state the key sees.',
    'rights.sync': 'A sync sends only what the key sees.',
    'rights.rank': 'The order of a search does not depend on rows that the grant does not see.',
  },
  N2: {
    'rights.cover': 'A key cannot create, change, revoke or delete a key that can do more than itself.',
    'rights.hook': 'Storing a hook needs write on its type, for all rows.',
  },
  N3: {
    'rights.hook.grant': 'A stored hook runs with the grant of the key that stored it.',
    'rights.hook.keys': 'Code in hooks cannot create API keys.',
    'rights.made': 'Revoking a key returns what it made; with cascade these are suspended or revoked as well.',
  },
  N4: {
    'rights.domain': '$domain and $path of a built-in type cannot be changed.',
    'rights.domain.move': 'Moving a custom type to another domain needs admin on both.',
  },
  N5: {
    'rights.secret.webhook': 'Webhook secrets are encrypted where they are stored.',
    'rights.secret.kept': 'Answers kept for an Idempotency-Key hold no secret at any depth.',
    'rights.root': 'A TILDE_ROOT_KEY of less than 32 characters is refused.',
  },
  N6: { 'rights.operator.log': 'What the operator does with tenants is at GET /operator/log.' },
  N7: {
    'rights.enter': 'The record through which an entity enters a narrowed view has no previous.',
    'rights.ids': 'Messages of undo and of unique conflicts do not name hidden entities.',
    'rights.replay': 'A kept answer is replayed only if the grant still covers the request.',
    'rights.redirect': 'Waiting deliveries stay at the address they were queued for unless the request says redirect.',
  },
  N8: {
    'rights.author': 'Only the call that stores or changes a declaration sets its author.',
    'rights.reach': 'Storing needs a grant that covers every type, row and verb that the thing reaches.',
    'rights.generator': 'No stored thing reaches more than its author, in at least 5,000 combinations.',
    'rights.backward': 'No verb brings back or redirects what an author with more rights stored.',
    'rights.kinds': 'Every kind of stored thing is listed in docs/security.md and tested.',
  },
  N9: {
    'rights.acts': 'A stored thing acts and reads with the grant of its author, and nothing else.',
    'rights.service': 'What is stored changes the service types only with admin on their domain.',
    'rights.values': 'Errors of declarations and migrations show no values.',
  },
  N10: {
    'rights.refer': 'A narrowed grant cannot refer to an entity that it does not see.',
    'rights.now': 'Deliveries, redeliveries and tests show what the rights at that moment allow.',
    'rights.holder': 'made and cascade list by who holds the rights, agents included.',
    'rights.limits': 'The limits of a consent hold for every event, and for all that code is given.',
  },
})

export const fairness = requirements('running', {
  O1: {
    'budget.one': 'All parts of a request share one budget of time, rows and bytes.',
    'budget.answer': 'A request over its budget is answered 422 over_budget with the limit.',
    'budget.batch': 'In a batch the operation that exceeds the budget and all later ones get that error.',
  },
  O2: {
    'slices.background': 'Background work runs in slices and yields to requests.',
    'slices.names': 'The search for unknown names is one short slice, however many names a request has.',
    'slices.text': 'Parts of the text index are merged in steps, after writing pauses.',
    'slices.plan': 'A plan asks each of its questions in a turn of its own.',
    'slices.mail': 'E-mail is taken apart in a thread of its own.',
  },
  O3: { 'fair.keyless': 'A request without a valid key does not open the tenant.' },
  O4: { 'fair.quarantine': 'A tenant whose thread died twice within a minute is quarantined.' },
  O5: { 'fair.slow': 'A body that arrives too slowly is rejected with 408.' },
  O6: { 'files.damaged': 'A tenant file whose length does not match its header returns 503.' },
  O7: {
    'budget.transaction': 'A transaction over its time runs as a job in slices, and leaves the old or the new state.',
    'budget.tasks': 'GET …/tasks/:id shows the progress of such a job, and a request can cancel it.',
    'budget.client': 'The client library waits for such a job, and returns the answer of the request.',
    'budget.waiting':
      'Writes that wait for such a job are limited: more of them are refused, with the time to try again.',
    'answers.bounded': 'Answers that wait to be read are bounded for the process, a tenant and a key.',
    'answers.slow': 'A reader slower than 1 KiB/s over 60 s is disconnected.',
    'tenant.quota': 'A write beyond TILDE_TENANT_LIMIT returns 507 over_quota; reads, deletes and erasures continue.',
    'automation.rate':
      'Timers, workflows and hooks write at most TILDE_AUTOMATION_RATE times a minute, then they wait.',
  },
})
