import { requirements } from './requirement.ts'

/** The past that users bring along: its import, connectors, and tenants that are merged. */
export const past = requirements('past', {
  V1: {
    'past.rows': 'POST /import/history takes NDJSON or a JSON array of past changes in the order of time.',
    'past.event': 'Each row becomes an event with its timestamp and actor, and with recordedAt, the real time.',
    'past.reads': 'asOf, history, diff, metrics and the change stream show the imported past.',
    'past.proof': 'The proof of an event covers timestamp and recordedAt; proofs of events without it stay valid.',
    'past.names': 'A row names its entity by id or by source; only create creates it.',
    'past.source.filter': '$source is a meta-field, a list, and can be filtered.',
    'past.source.reference': 'In data a reference may be {"source": …}.',
    'past.answer': 'The answer is that of an import with repeated; details are {row, line?, error, head?}.',
  },
  V2: {
    'past.order':
      'A row after now, before the newest event or not after every syncedAt is rejected: out_of_order with head.',
    'past.own.times': 'Events of the service’s own types keep their times and do not count for the head.',
    'past.rights': 'The import of a past needs admin:all, and rejects rows of the service’s own types.',
    'past.states': 'States are checked as on import; guards and transitions are not.',
    'past.quiet': 'No hook, webhook or workflow runs for an imported past, and no timer that is due before now.',
    'past.repeated': 'A repeated row is recognised before the order is tested, changes nothing and counts in repeated.',
  },
  V3: {
    'merge.replay': 'tilde history merge replays several logs by time into a new tenant; ids stay.',
    'merge.conflicts':
      'Types that differ, equal unique values, ids and sources of two logs are listed and stop the merge.',
    'merge.first': 'Keys, webhooks, people and workflows are taken from the first log.',
  },
  V4: {
    'connect.past': 'tilde import hubspot, stripe, github reads a source with its past and writes it as V1 does.',
    'connect.files': 'tilde import salesforce-csv and folder read CSV files with their past.',
    'connect.spool': 'Raw answers are kept in a folder, so that an interrupted run continues.',
    'connect.limits': 'The limits of a provider (429, Retry-After) are obeyed.',
    'connect.count': '--dry-run counts; --api-url changes the address of the provider.',
    'connect.mapping': 'A mapping is a JSON file; --print-mapping prints the default.',
  },
  V5: {
    'integration.connect':
      'connect checks the credentials with the provider and keeps them encrypted, bound to the address.',
    'integration.sync':
      'sync answers 202, writes what changed by source, the later change of a field wins, and ends with synced.',
    'integration.failed':
      'A run that fails has the event failed with the reason; error is set and the status stays Connected.',
    'integration.schedule': 'schedule (cron) repeats the runs, with the rights of the author.',
    'integration.preview':
      'POST /Integration/:id/preview shows records as a mapping would write them, and writes nothing.',
    'integration.mapping':
      'A changed mapping keeps the integration connected if the caller may do all that it did and does; a wrong one is refused.',
    'integration.watch': 'GET /Integration/:id/run shows the run in progress with its counts.',
    'integration.stop': 'POST /Integration/:id/stop ends a run, and so does disconnect; what it wrote stays.',
    'integration.disconnect': 'disconnect deletes the credentials; a changed address needs a new connect.',
    'integration.plain': 'A provider without a connector changes its status only, with the warning not_configured.',
  },
})
