import { requirements } from './requirement.ts'

/** Timers and workflows. */
export const automation = requirements('automation', {
  R1: {
    'timer.fires': 'A timer runs its verb when the time in its field has come, as actor timer:<Type>.<name>.',
    'timer.conditions': 'It runs only in the states of from and when the filter of when holds.',
    'timer.once': 'The verb runs exactly once, in the order of time.',
    'timer.crash': 'It runs exactly once also after a crash.',
    'timer.closed': 'It runs also when the tenant was closed.',
    'timer.reschedule': 'Changing the field reschedules it, clearing the field or deleting the entity cancels it.',
    'timer.custom': 'Custom types can declare timers, also when they have entities already.',
    'timer.sources': 'Imports and syncs schedule timers too.',
    'timer.copies': 'A fork or a restored tenant does not run what was due before.',
    'timer.list': 'GET …/:Type/:id/timers lists the pending timers of an entity.',
    'timer.slices': 'Many timers that are due at once run in slices.',
    'timer.rights': 'Declaring a timer needs write on the type, for all rows.',
  },
  R2: {
    'workflow.event': 'An Activated workflow runs once for each event that its pattern and its filter select.',
    'workflow.durable': 'It runs after the event is durable, and survives a crash.',
    'workflow.schedule': 'A schedule is cron, optionally with a time zone.',
    'workflow.values': 'Values of a step are $event.… and $steps.<n>.…, or as they are.',
    'workflow.code': 'A step of code is called with the event, the tenant and the results of the steps before.',
    'workflow.once': 'A verb of a step takes effect exactly once per event.',
    'workflow.retries': 'A step that fails is tried again as retryPolicy says.',
    'workflow.timeout': 'A run that takes longer than its timeout fails.',
    'workflow.errors': 'errorHandling is Stop, Continue or Fallback.',
    'workflow.runs': 'GET …/Workflow/:id/runs lists the runs, and each of them shows its steps.',
    'workflow.retry': 'POST …/runs/:run/retry goes on with a failed run from the step that failed.',
    'workflow.cancel': 'POST …/runs/:run/cancel ends a run that has not ended.',
    'workflow.test': 'POST …/Workflow/:id/test runs the steps on an event without a trace.',
    'workflow.test.draft': 'A test tries changes to a workflow that are not stored, with the rights of the caller.',
    'workflow.hops': 'Chains of workflows stop after 16 hops.',
    'workflow.pause': 'A workflow that fails five times in a row is paused and emits Workflow.paused.',
    'workflow.counts': 'runCount, successCount, failureCount and lastRunAt match the runs.',
    'workflow.trigger': 'Workflow.trigger runs it by hand.',
    'workflow.rights': 'A workflow runs with the rights of the key that stored it, as they were at that time.',
    'workflow.cover': 'A key cannot change or start a workflow that can do more than itself.',
    'workflow.keys': 'Workflows cannot create API keys.',
  },
  R3: {
    'timer.content': 'Content.schedule publishes on time.',
    'timer.subscription': 'Subscription.cancel with cancelAtPeriodEnd ends the subscription when the period ends.',
    'timer.activity': 'Activity.remind runs at the time of the reminder.',
  },
  W1: {
    'workflow.request':
      'A step of a workflow sends a request with values of the event, and later steps use its answer.',
    'workflow.wait': 'A step waits for a time, or until a time of the event; a past time goes on at once.',
    'workflow.event.wait': 'A step waits for an event that its filter selects, or for its timeout.',
    'workflow.ask': 'A step asks a person or a role; its fields are checked.',
    'workflow.undo': 'undo runs in reverse order if a later step fails permanently.',
  },
  W2: {
    'workflow.request.retry': 'A request is sent at least once, with the same Idempotency-Key on every attempt.',
  },
  W3: {
    'secret.hidden': 'A secret never appears in a run, an event, a log or an error.',
    'secret.users': 'GET …/secrets names the workflows and agents that use a secret.',
    'secret.author': 'Storing a workflow that names a secret needs admin:platform.',
  },
  W4: {
    'workflow.ssrf': 'Requests of workflows and agents reach no private address.',
    'ask.doors': 'Questions are read and answered in the client, in code, on the command line, and read over MCP.',
    'ask.agents': 'Neither an agent nor what it stores answers a question.',
    'ask.person': 'Only a person whom a question is for sees and answers it, in their own session; an agent never.',
  },
})
