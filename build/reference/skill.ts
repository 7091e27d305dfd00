import { COMMANDS } from '../../packages/cli/src/commands.ts'
import { commonSections, SUMMARY } from '../../packages/server/src/doors/llms/common.ts'
import { areaTable } from './areas.ts'
import { code, table } from './markdown.ts'
import { kindTable, markTable, verbTable } from './notation.ts'
import { logicalTable, operatorTable } from './query.ts'

/** The skill file for coding agents, from the same tables as the reference. */
export function skillFile(): string {
  return `${[
    [
      '---',
      'name: tildebase',
      'description: Use when reading, writing or modelling data in Tildebase, a multi-tenant store of typed business entities with verbs, events and time travel. Covers the REST API, filters, type declarations, scopes, workflows, e-mail, approvals, the TypeScript client, the tilde command line and MCP.',
      '---',
    ].join('\n'),
    '# Tildebase',
    '<!-- Written by npm run docs:reference. -->',
    SUMMARY,
    'Before you start, read what the tenant has: `GET {url}/~{tenant}/llms.txt` with a key lists its types with fields, states and verbs.',
    ...commonSections('{url}/~{tenant}'),
    '## Operators',
    operatorTable(),
    logicalTable(),
    '## Notation of fields',
    kindTable(),
    markTable(),
    '## Parts of a verb',
    verbTable(),
    '## Scopes',
    '`<action>:<area>`: `read`, `propose`, `write`, `admin` on `all`, a domain, or a type; and `approve:own`. Ask for the narrowest that works.',
    areaTable(),
    '## TypeScript client',
    [
      '```ts',
      "import { tildebase } from '@tildebase/client'",
      '',
      "const $ = tildebase({ tenant: 'acme', apiKey: process.env.TILDE_KEY!, baseUrl: process.env.TILDE_URL! })",
      "const ada = await $.Contact.create({ name: 'Ada', email: 'ada@example.com' })",
      'await $.Contact.qualify(ada.$id)',
      "const leads = await $.Contact.find({ stage: 'Lead' }, { sort: { createdAt: -1 }, limit: 10 })",
      'console.log(leads.length)',
      '```',
    ].join('\n'),
    '## Command line',
    table(
      ['Command', 'What it does'],
      Object.entries(COMMANDS).map(([name, about]) => [code(`tilde ${name}`), about]),
    ),
    '`tilde Contact.find --stage Lead --json` lists entities; `tilde Contact.qualify ID` runs a verb; `tilde help <command>` explains.',
    '## Automation and e-mail',
    [
      '- `POST {url}/~{tenant}/Workflow` with `triggerEvent` (`Deal.won`) or `schedule` (cron), and `steps`: `{verb, type, id, args}`, `{code}`, `{request: {method, url, headers, body}}`, `{wait: "3d"}`, `{until: "$event.data.dueAt - 2d"}`, `{waitFor: "Invoice.paid", filter, timeout}`, `{ask: {of: "role:Admin", title, fields, timeout}}`, `{send: {to, subject, body}}`. Each may have `if` (a filter over `{event, steps}`) and `undo` (a step). Values: `$event.data.name`, `$steps.0.$id`; in requests also `$secrets.NAME`.',
      '- `POST …/Workflow/{id}/test` with `{"event": …}` shows what it would do, and sends nothing. `POST …/Workflow/{id}/activate` starts it; `GET …/Workflow/{id}/runs` shows what happened, `…/runs/{run}/cancel` and `/retry` change it.',
      '- `GET …/asks` lists questions that wait for people. A person answers them: `POST …/asks/{id}/answer` refuses agents.',
      '- `POST …/Message` with `channel: "Email"`, `to`, `subject` and `body` (Markdown), then `POST …/Message/{id}/send`. The warning `not_configured` says that nothing sends it. `POST …/Ticket/{id}/reply` answers a customer.',
      '- `POST …/Agent/{id}/ask` calls the agent if it has an `endpoint`; the answer is the event `Agent.answered`. `GET …/Agent/{id}/runs` lists the calls.',
    ].join('\n'),
    '## MCP',
    [
      '- Tools: `search`, `fetch` (also `Schema`, `Status`, `Metric`, `Changeset`, `Ask`) and `do`, which runs code with `$`.',
      '- `do` with `propose: "<title>"` changes nothing. Its answer has `changeset.url`, or it is a task: show the URL to the person, who decides there. Then `fetch` the Changeset, or call `tasks/get`.',
      '- `events/list`, `events/subscribe` and `events/unsubscribe` send events such as `Contact.created` to an https address of yours, signed.',
    ].join('\n'),
    '## Rules',
    [
      '- Run a verb instead of setting a state field. A guarded type rejects the latter with 409 `invalid_transition`, and names the verbs.',
      '- Try a write with `?dryRun=true`. With a key of scope `propose:…`, add `?propose=<title>`; a person approves it.',
      '- Filter and aggregate on the server. Do not download a collection to count it.',
      '- Send an `Idempotency-Key` with a POST that may be retried. Send `If-Match` with an update that depends on what you read.',
      '- Read `X-Tilde-Warnings` and `warnings`: they name misspelt fields.',
      '- The answer of a request that wrote several events has `X-Tilde-Correlation`; `POST …/undo/:correlation` reverts them.',
    ].join('\n'),
  ].join('\n\n')}\n`
}
