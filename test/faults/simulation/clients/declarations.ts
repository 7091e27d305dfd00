/** A type whose timer rings. */
export const ALARM = {
  ringAt: 'datetime',
  label: 'string',
  ring: { event: 'rang' },
  $timers: { ring: { at: 'ringAt', run: 'ring' } },
}
/** What the workflow does for each alarm that has rung. */
export const STEPS = [
  { verb: 'create', type: 'Comment', args: { body: 'first', entityId: '$event.data.$id' } },
  { wait: '2h' },
  { request: { method: 'POST', url: 'http://receiver.test/step', body: { alarm: '$event.data.$id' } } },
  { verb: 'create', type: 'Comment', args: { body: 'last', entityId: '$event.data.$id' } },
]

/** A type of the tenant with a field whose name changes again and again. */
export const THING = { name: 'string', group: 'string', size: 'number = 1' }
/** A type with a guarded state, a timer that may be refused, and a number that its parts add up to. */
export const JOB = {
  name: 'string!',
  state: 'Planned | Active | Checked | Done = Planned',
  part: '-> Job',
  parts: '<- Job.part[]',
  hours: 'number = 1',
  total: '= sum(parts.hours)',
  longest: '= max(parts.hours)',
  count: '= count(parts)',
  whole: '= part.name',
  tags: 'string[]',
  contract: 'file',
  scans: 'file[]',
  dueAt: 'datetime',
  begin: { event: 'begun', from: 'Planned', set: { state: 'Active' } },
  advance: { event: 'advanced', set: { state: '$next' } },
  finish: { event: 'finished', from: 'Active', set: { state: 'Done' }, keeps: 'event' },
  $guarded: true,
  $timers: { due: { at: 'dueAt', run: 'finish' } },
}
/** A workflow over jobs. The last step of long ones fails finally: what was done for them is undone. */
export const CARE = {
  name: 'care',
  triggerEvent: 'Job.begun',
  steps: [
    { ...comment('begun'), undo: comment('undone') },
    { if: { 'event.data.hours': { $gt: 1 } }, ...comment('long') },
    { waitFor: 'Job.finished', filter: { $id: '$event.data.$id' }, timeout: '1h' },
    { if: { 'event.data.hours': { $gt: 1 } }, verb: 'begin', type: 'Job', id: '$event.data.$id' },
  ],
  retryPolicy: { retries: 1, backoff: '1m' },
}

function comment(body: string) {
  return { verb: 'create', type: 'Comment', args: { body, entityId: '$event.data.$id' } }
}
