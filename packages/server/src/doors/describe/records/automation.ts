import {
  ANY_OBJECT,
  OBJECT_OR_NULL,
  record,
  type Schema,
  TEXT,
  TEXT_OR_NULL,
  TIME,
  TIME_OR_NULL,
  WHOLE,
} from '../schema.ts'

/** What the routes of timers and workflows answer. */
export const AUTOMATION_RECORDS: { readonly [name: string]: Schema } = {
  Timers: record(
    'The pending timers of an entity.',
    {
      timers: {
        type: 'array',
        items: record(
          'A verb that runs at the time in a field.',
          {
            name: TEXT,
            at: TIME,
            field: { ...TEXT, description: 'The field that holds the time.' },
            run: { ...TEXT, description: 'The verb.' },
            from: { type: 'array', items: TEXT, description: 'The states in which it runs.' },
            when: ANY_OBJECT,
            status: { enum: ['Waiting', 'Failed'] },
            error: { ...TEXT_OR_NULL, description: 'Why the verb was refused.' },
          },
          ['name', 'at', 'field', 'run', 'status', 'error'],
        ),
      },
      total: WHOLE,
    },
    ['timers', 'total'],
  ),
  Run: record(
    'One run of a workflow. Lists omit its steps.',
    {
      id: TEXT,
      workflow: TEXT,
      status: { enum: ['Waiting', 'Running', 'Succeeded', 'Failed', 'Cancelled'] },
      trigger: { enum: ['event', 'schedule', 'manual', 'retry'] },
      event: { ...OBJECT_OR_NULL, description: 'The event that it runs for: its id, type and seq.' },
      scheduledAt: TIME_OR_NULL,
      startedAt: TIME_OR_NULL,
      endedAt: TIME_OR_NULL,
      duration: { type: ['integer', 'null'], description: 'Milliseconds.' },
      nextAttemptAt: TIME_OR_NULL,
      error: TEXT_OR_NULL,
      retryOf: TEXT_OR_NULL,
      retriedBy: TEXT_OR_NULL,
      steps: {
        type: 'array',
        items: record(
          'A step. Input, output and error are omitted for keys that may not read all that the workflow reads.',
          {
            step: WHOLE,
            type: TEXT,
            verb: TEXT,
            code: TEXT_OR_NULL,
            fallback: { type: 'boolean' },
            status: { enum: ['Pending', 'Running', 'Waiting', 'Succeeded', 'Failed', 'Skipped'] },
            tries: WHOLE,
            startedAt: TIME_OR_NULL,
            endedAt: TIME_OR_NULL,
            duration: { type: ['integer', 'null'] },
            input: {},
            output: {},
            error: TEXT_OR_NULL,
            hidden: { type: 'boolean' },
          },
          ['step', 'status', 'tries'],
        ),
      },
    },
    ['id', 'workflow', 'status', 'trigger'],
  ),
  WorkflowTest: record(
    'What the steps of a workflow would do.',
    {
      dryRun: { type: 'boolean' },
      matches: { type: 'boolean', description: 'Whether the workflow would run for the event.' },
      status: { enum: ['Succeeded', 'Failed'] },
      event: ANY_OBJECT,
      steps: { type: 'array', items: ANY_OBJECT },
      events: { type: 'array', items: ANY_OBJECT, description: 'The events that the run would write.' },
    },
    ['dryRun', 'matches', 'status', 'steps', 'events'],
  ),
}
