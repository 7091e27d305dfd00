/// <reference path="../browser/scripts.d.ts" />

import type { EventProof } from '@tildebase/nouns'
import { Problem } from '@tildebase/nouns'
import { SCRIPTS } from '#scripts'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, HTML, PLAIN } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ref, TEXT, WHOLE } from '../describe/schema.ts'
import { contentReply, json, type Reply } from '../reply.ts'
import { streamRoute } from '../route.ts'

const NOTE = { 'content-type': 'text/plain; charset=utf-8', vary: 'accept' }
const SIZE = { ...WHOLE, minimum: 0 }

/** What a tenant proves about its log. */
export const proofRoutes: readonly Route[] = [
  streamRoute('GET /checkpoint', {
    summary: 'Read the signed checkpoint of the log',
    needs: 'any valid key',
    answers: { 200: answer(ref('Checkpoint'), PLAIN) },
    handle: checkpoint,
  }),
  streamRoute('GET /proof/:eventId', {
    summary: 'Get the proof that an event is in the log unchanged',
    needs: 'read on the types involved',
    params: [
      query('size', 'The size of an earlier log in which to prove the event.', 100, SIZE),
      query('format', 'json, or html for a page that verifies the proof.', 'html', { ...TEXT, enum: ['json', 'html'] }),
    ],
    answers: { 200: answer(ref('EventProof'), { content: HTML }) },
    handle: proof,
  }),
  streamRoute('GET /consistency', {
    summary: 'Get the proof that an earlier log is the beginning of a later one',
    needs: 'any valid key',
    params: [
      { ...query('from', 'The size of the earlier log.', 100, SIZE), required: true },
      query('to', 'The size of the later log; default the newest.', 200, SIZE),
    ],
    answers: { 200: answer(ref('ConsistencyProof')) },
    handle: consistency,
  }),
]

/** A signed note as text, or with what is known about it as JSON. */
async function checkpoint({ tenant, grant, request }: Call): Promise<Reply> {
  const found = await tenant.prove(grant).checkpoint()
  if (request.headers.accept?.includes('application/json')) return json(200, found, { vary: 'accept' })
  return contentReply(200, { value: () => found.note, text: () => found.note }, NOTE)
}

async function proof({ tenant, grant, params, query, budget }: Call): Promise<Reply> {
  const format = textParam(query, 'format') ?? 'json'
  if (format !== 'json' && format !== 'html')
    throw new Problem('invalid_parameter', 'format must be json or html.', { field: 'format' })
  const size = sizeParam(query, 'size')
  if (format === 'html' && size !== null)
    throw new Problem('invalid_parameter', 'A page uses the newest checkpoint: omit size.', { field: 'size' })
  const found = await tenant.prove(grant).event(params.eventId!, size)
  budget.spendBytes((found.entry.data?.length ?? 0) + (found.entry.previous?.length ?? 0))
  return format === 'html' ? proofPage(found) : json(200, found)
}

async function consistency({ tenant, grant, query }: Call): Promise<Reply> {
  const from = sizeParam(query, 'from')
  if (from === null)
    throw new Problem('invalid_parameter', 'Give from: the size of the earlier log.', { field: 'from' })
  return json(200, await tenant.prove(grant).consistency(from, sizeParam(query, 'to')))
}

/** A number of events, or null when it is not given. */
function sizeParam(query: Call['query'], name: string): number | null {
  const text = textParam(query, name)
  if (text === undefined || text === '') return null
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Problem('invalid_parameter', `${name} must be a number of events, a whole number from 0.`, { field: name })
}

/** A proof as one page that checks itself: it needs no network, and sends nothing. */
function proofPage(proof: EventProof): Reply {
  const page = pageOf(proof)
  return contentReply(
    200,
    { value: () => page, text: () => page },
    {
      'content-type': 'text/html; charset=utf-8',
      'content-disposition': `attachment; filename="proof-${proof.event}.html"`,
      // The page is for a file: opened from here it does nothing.
      'content-security-policy': "default-src 'none'; sandbox",
    },
  )
}

function pageOf(proof: EventProof): string {
  // No value can end the element that it is in.
  const json = JSON.stringify(proof).replace(/</g, '\\u003c')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="description" content="Proves that an event is in the log of a tenant, and checks itself.">
<title>Proof of an event</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Proof of an event</h1>
<p id="verdict" role="status">Checking…</p>
<ul id="results"></ul>
<h2>The event</h2>
<dl id="facts"></dl>
<section tabindex="0" aria-label="The values after the event"><pre id="data"></pre></section>
<h2>What this means</h2>
<p>The checkpoint below is a signed statement about the whole log at one moment. If anyone, the operator included, changes,
removes, inserts or reorders an event that it covers, the log does not fit this statement any more.</p>
<p>This page proves that the event is in that log, with these values and at this place. It does not prove that what the event
says is true, that the clock of the service was right, or that no other log was shown to others. Witnesses are there
for the last point: each of them saw one history only.</p>
<h2>The key of the service</h2>
<p>Compare this key with the one that the service publishes at <code>/.well-known/tilde-keys</code>, or that you know from
elsewhere. A page can name any key.</p>
<section tabindex="0" aria-label="The key"><pre id="key"></pre></section>
<h2>The checkpoint</h2>
<section tabindex="0" aria-label="The checkpoint"><pre id="checkpoint"></pre></section>
</main>
<script type="application/json" id="proof">${json}</script>
<script>${SCRIPTS.proof}</script>
</body>
</html>
`
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
main { max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
section { overflow: auto; padding: 0 .75rem; border: 1px solid #8886; border-radius: 6px; font-size: 13px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem }
dd { margin: 0; overflow-wrap: anywhere }
#verdict { font-size: 1.25rem; font-weight: 600 }
.valid #verdict { color: light-dark(#146c2e, #7ddc93) }
.invalid #verdict { color: light-dark(#b3261e, #ff8a80) }
#results { list-style: none; padding: 0 }
#results li::before { content: '✓ '; font-weight: 600 }
#results li.no::before { content: '✗ ' }
#results li.unknown::before { content: '– ' }
`
