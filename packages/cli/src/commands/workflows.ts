import type { Call, Command } from '../command.ts'
import { jsonObject } from '../entities/type.ts'
import { oneWord, someWords } from '../output/words.ts'
import { UsageError } from '../parse/usage-error.ts'

const WORKFLOWS = ['$id', 'name', 'status', 'triggerEvent', 'schedule', 'runCount', 'failureCount', 'lastRunAt']
const RUNS = ['id', 'status', 'trigger', 'startedAt', 'duration', 'error']
const STEPS = ['step', 'type', 'verb', 'status', 'tries', 'duration', 'error']

export const command: Command = {
  usage: [
    'workflows list',
    'workflows runs ID [--status STATUS]',
    'workflows run ID RUN',
    'workflows retry ID RUN',
    'workflows cancel ID RUN',
    'workflows test ID [--event EVENT]',
  ].join('\n'),
  summary: 'shows the runs of workflows, retries a failed run, or tests a workflow with an event',
  flags: {
    status: { type: 'string', help: 'runs: Waiting, Running, Succeeded, Failed or Cancelled' },
    limit: { type: 'string', help: 'runs: how many, 1 to 100; default 25' },
    cursor: { type: 'string', help: 'runs: the cursor of the previous page' },
    event: { type: 'string', help: 'test: the id of a past event, or an event as JSON' },
  },
  examples: [
    'tilde workflows runs workflow_… --status Failed',
    'tilde workflows retry workflow_… run_…',
    `tilde workflows test workflow_… --event '{"type":"Deal.won","data":{"value":100}}'`,
  ],
  async run(call) {
    const [action = 'list', ...words] = call.words
    const run = Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : undefined
    if (!run) throw new UsageError(`workflows has ${Object.keys(ACTIONS).join(', ')}, not ${action}.`)
    await run({ ...call, words })
  },
}

const ACTIONS: { readonly [action: string]: (call: Call) => Promise<void> } = {
  async list(call) {
    someWords(call, [])
    const { link, out } = call
    const page = await link().$.request('GET', '/Workflow', { query: { limit: 100 } })
    out.list(page.results, WORKFLOWS, page)
  },
  async runs(call) {
    const { link, out, flags } = call
    const query = { status: flags.text('status'), limit: flags.text('limit'), cursor: flags.text('cursor') }
    const page = await link().$.request('GET', `${workflowPath(call)}/runs`, { query })
    out.list(page.results, RUNS, page)
    if (page.hasMore) out.note(`${page.results.length} of ${page.total}. More: --cursor ${page.cursor}`)
  },
  async run(call) {
    const { link, out } = call
    const run = await link().$.request('GET', runPath(call))
    out.list(run.steps, STEPS, run)
  },
  retry: async (call) => call.out.record(await call.link().$.request('POST', `${runPath(call)}/retry`)),
  cancel: async (call) => call.out.record(await call.link().$.request('POST', `${runPath(call)}/cancel`)),
  async test(call) {
    const { link, out, flags } = call
    const event = flags.text('event')
    const body = event === undefined ? {} : { event: event.startsWith('{') ? jsonObject(event, '--event') : event }
    const answer = await link().$.request('POST', `${workflowPath(call)}/test`, { body })
    out.list(answer.steps, ['step', 'type', 'verb', 'status', 'output', 'error'], answer)
  },
}

const WORKFLOW = 'the id of a workflow: tilde workflows list'

function workflowPath(call: Call): string {
  return `/Workflow/${encodeURIComponent(oneWord(call, WORKFLOW))}`
}

function runPath(call: Call): string {
  const [workflow, run] = someWords(call, [WORKFLOW, 'the id of a run: tilde workflows runs ID'])
  return `/Workflow/${encodeURIComponent(workflow!)}/runs/${encodeURIComponent(run!)}`
}
