import { requirements } from './requirement.ts'

export const changesets = requirements('changesets', {
  Q1: {
    'changeset.propose.rest':
      'A write or a batch with ?propose is answered 202 with a changeset and writes nothing else.',
    'changeset.propose.more': '?propose with the id of an open changeset adds to it, on top of what it holds.',
    'changeset.propose.mcp': 'In MCP, do with propose, or with a key that can only propose, files a changeset.',
    'changeset.propose.cli': '--propose in the command line files a changeset.',
    'changeset.propose.sdk': '$.propose(title, work) files what the work writes as one changeset.',
    'changeset.scope': 'A key with the scope propose:<area> reads and proposes there, and cannot write.',
    'changeset.internals': 'No ordinary write changes the operations, the base or the author of a changeset.',
    'changeset.sees': 'A grant sees a changeset if it covers the rights it was proposed with, on the types it touches.',
    'changeset.bounds': 'A changeset holds a bounded number of operations and bytes.',
  },
  Q2: {
    'changeset.diff': 'GET of a changeset returns its diff against the current state.',
    'changeset.effect':
      'GET of the effect of an open changeset returns the metrics, counts and sums that it would change, as the key sees them.',
    'changeset.hooks': 'GET of a changeset returns the messages of BEFORE hooks that refuse an operation.',
    'changeset.conflicts':
      'A field that others changed after the base, and a verb that does not fit the state, is a conflict.',
    'changeset.approve': 'Approving runs all verbs in one transaction, as the approver and on behalf of the author.',
    'changeset.approve.whole': 'An approval with conflicts changes nothing and is answered 409 with them.',
    'changeset.approve.rights': 'The approver needs the rights for every operation, row filters included.',
    'changeset.approve.own': 'Authors approve their own changesets only with the scope approve:own.',
    'changeset.approve.part': 'approve with {"operations": [numbers]} runs these and closes the changeset.',
  },
  Q3: {
    'changeset.fork.origin': 'A fork records its origin and seq.',
    'changeset.fork.merge': 'POST /changesets {"from": "<fork>"} creates a changeset from what the fork did.',
    'changeset.merge.sequence': 'Merging changes of different fields gives the state of running them in sequence.',
    'changeset.merge.silent': 'A field that both sides changed is never overwritten without a reported conflict.',
  },
  Q4: {
    'changeset.events': 'Proposing, commenting, approving and rejecting are events, in streams, webhooks and history.',
    'changeset.traces': 'A rejected or stale changeset leaves its own events and nothing else.',
  },
  Q5: {
    'changeset.preview': 'The answer to a proposal holds preview, what the write would have answered.',
    'changeset.shapes': 'diff and conflicts have the shapes of the decision.',
    'changeset.stale': 'An open changeset becomes Stale after TILDE_CHANGESET_DAYS.',
    'changeset.rebase': 'rebase {"keep": [numbers]} sets the base to now and drops the other operations.',
  },
})
