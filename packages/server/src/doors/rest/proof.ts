/// <reference path="../browser/scripts.d.ts" />

import type { EventProof } from '@tildebase/nouns'
import { Problem } from '@tildebase/nouns'
import { SCRIPTS } from '#scripts'
import { type Call, type Route, textParam } from '../call.ts'
import { answer, HTML, PLAIN } from '../describe/description.ts'
import { query } from '../describe/parameters.ts'
import { ref, TEXT, WHOLE } from '../describe/schema.ts'
import { Html, html, type Language, LOGO } from '../pages/html.ts'
import { languageOf } from '../pages/language.ts'
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

async function proof({ tenant, grant, params, query, budget, request }: Call): Promise<Reply> {
  const format = textParam(query, 'format') ?? 'json'
  if (format !== 'json' && format !== 'html')
    throw new Problem('invalid_parameter', 'format must be json or html.', { field: 'format' })
  const size = sizeParam(query, 'size')
  if (format === 'html' && size !== null)
    throw new Problem('invalid_parameter', 'A page uses the newest checkpoint: omit size.', { field: 'size' })
  const found = await tenant.prove(grant).event(params.eventId!, size)
  budget.spendBytes((found.entry.data?.length ?? 0) + (found.entry.previous?.length ?? 0))
  return format === 'html' ? proofPage(found, languageOf(request)) : json(200, found)
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
function proofPage(proof: EventProof, language: Language): Reply {
  const page = pageOf(proof, language)
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

function pageOf(proof: EventProof, { code, dir, texts, say }: Language): string {
  const { text } = html`<!doctype html>
<html lang="${code}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="content-security-policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<meta name="description" content="${say('Proves that an event is in the log of a tenant, and checks itself.')}">
<title>${say('Proof of an event')}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<p class="brand">${LOGO} Tildebase</p>
<h1>${say('Proof of an event')}</h1>
<p id="verdict" role="status">${say('Checking…')}</p>
<ul id="results"></ul>
<h2>${say('The event')}</h2>
<dl id="facts"></dl>
<section tabindex="0" aria-label="${say('The values after the event')}"><pre id="data" dir="ltr"></pre></section>
<h2>${say('What this means')}</h2>
<p>${say(MEANING)}</p>
<p>${say(LIMITS)}</p>
<h2>${say('The key of the service')}</h2>
<p>${say(COMPARE, html`<code dir="ltr">/.well-known/tilde-keys</code>`)}</p>
<section tabindex="0" aria-label="${say('The key')}"><pre id="key" dir="ltr"></pre></section>
<h2>${say('The checkpoint')}</h2>
<section tabindex="0" aria-label="${say('The checkpoint')}"><pre id="checkpoint" dir="ltr"></pre></section>
</main>
<script type="application/json" id="texts">${data(texts)}</script>
<script type="application/json" id="proof">${data(proof)}</script>
<script>${new Html(SCRIPTS.proof)}</script>
</body>
</html>
`
  return text
}

/** A value as JSON that cannot end the element that it is in. */
function data(value: unknown): Html {
  return new Html(JSON.stringify(value).replace(/</g, '\\u003c'))
}

const MEANING =
  'The checkpoint below is a signed statement about the whole log at one moment. If anyone, the operator included, changes, removes, inserts or reorders an event that it covers, the log does not fit this statement any more.'
const LIMITS =
  'This page proves that the event is in that log, with these values and at this place. It does not prove that what the event says is true, that the clock of the service was right, or that no other log was shown to others. Witnesses are there for the last point: each of them saw one history only.'
const COMPARE =
  'Compare this key with the one that the service publishes at {}, or that you know from elsewhere. A page can name any key.'

/** The colours and sizes of the console. The page is alone in its file, so the typeface is that of the reader's system. */
const STYLE = `
:root { color-scheme: light dark; --paper: light-dark(#fbfbfa, #121314); --surface: light-dark(#fff, #191b1c); --ink: light-dark(#1b1c1e, #ebebe8); --soft: light-dark(#5c6066, #a2a6ab); --line: light-dark(#e7e6e2, #2a2d2f); --accent: light-dark(#0f6b63, #6fc7bc); --on-accent: light-dark(#fff, #06231f); --good: light-dark(#17643a, #80d39c); --good-soft: light-dark(#e1f3e8, #16301f); --bad: light-dark(#a82a22, #f39d95); --bad-soft: light-dark(#fbe9e7, #3b1f1d) }
* { box-sizing: border-box }
body { margin: 0; padding: 16px; font: 14px/1.55 "Geist", ui-sans-serif, system-ui, sans-serif; color: var(--ink); background: var(--paper) }
main { max-width: 46rem; margin: 16px auto; padding: 28px; background: var(--surface); border: 1px solid var(--line); border-radius: 11px }
.brand { display: flex; align-items: center; gap: 10px; margin: 0 0 18px; font-weight: 600 }
.logo { width: 24px; height: 24px }
.logo rect { fill: var(--accent) }
.logo path { fill: none; stroke: var(--on-accent); stroke-width: 3; stroke-linecap: round }
h1 { margin: 0 0 12px; font-size: 20px }
h2 { margin: 24px 0 8px; font-size: 15px }
section { overflow: auto; padding: 0 12px; border: 1px solid var(--line); border-radius: 7px; background: var(--paper); font-size: 12.5px }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px }
dt { color: var(--soft) }
dd { margin: 0; overflow-wrap: anywhere }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
#verdict { padding: 10px 14px; border-radius: 7px; font-size: 16px; font-weight: 600 }
.valid #verdict { color: var(--good); background: var(--good-soft) }
.invalid #verdict { color: var(--bad); background: var(--bad-soft) }
#results { list-style: none; padding: 0 }
#results li::before { content: '✓ '; font-weight: 600 }
#results li.no::before { content: '✗ ' }
#results li.unknown::before { content: '– ' }
`
