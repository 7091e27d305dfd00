import type { Json } from '@tildebase/nouns'
import type { Review } from '@tildebase/tenant/internal'
import type { HttpResponse } from '../http.ts'
import { type Html, html, page } from '../oauth/html.ts'

/** What the page shows, and where its form goes. */
export interface DecisionView {
  readonly slug: string
  readonly review: Review
  readonly path: string
  /** The token of the session, which pages of other sites cannot know. */
  readonly csrf: string
  readonly error?: string | undefined
}

const LONGEST = 400

/** Shows what a changeset would change, and asks for the decision while it is open. */
export function decisionPage({ slug, review, path, csrf, error }: DecisionView): HttpResponse {
  const { changeset, diff, conflicts, messages } = review
  const { title, state, author, entity } = changeset
  const { reason, reviewer } = JSON.parse(entity.data) as { reason?: string; reviewer?: string }
  const isOpen = state === 'Open'
  const body = html`
<h1>${title}</h1>
${error && html`<p class="error" role="alert">${error}</p>`}
<p>Proposed by <strong>${author}</strong> in the tenant <strong>${slug}</strong>.</p>
${reason && html`<p>${reason}</p>`}
${!isOpen && html`<p role="status"><strong>${state}</strong>${reviewer && ` by ${reviewer}`}. Nothing is left to decide.</p>`}
${diff.map(difference)}
${conflicts.length > 0 && html`<h2>Conflicts</h2><ul>${conflicts.map(({ type, id, reason: why }) => html`<li>${type} ${id}: ${why}</li>`)}</ul>`}
${messages.length > 0 && html`<h2>Refused by rules</h2><ul>${messages.map(({ message }) => html`<li>${message}</li>`)}</ul>`}
${isOpen && form(path, csrf, entity.version)}`
  return page(slug, title, body, { status: error ? 409 : 200 })
}

function difference({ type, id, verb, changes }: Review['diff'][number]): Html {
  return html`
<section>
<h2>${verb} ${type}</h2>
<p class="note">${id}</p>
<table>
<thead><tr><th scope="col">Field</th><th scope="col">Now</th><th scope="col">After approval</th></tr></thead>
<tbody>${Object.entries(changes).map(
    ([field, { from, to }]) => html`<tr><th scope="row">${field}</th><td>${shown(from)}</td><td>${shown(to)}</td></tr>`,
  )}</tbody>
</table>
</section>`
}

function form(path: string, csrf: string, version: number): Html {
  return html`
<form method="post" action="${path}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="version" value="${version}">
<label>Reason, if you reject it <textarea name="reason" rows="2" maxlength="2000"></textarea></label>
<div class="actions">
<button type="submit" name="decision" value="reject">Reject</button>
<button type="submit" name="decision" value="approve" class="primary">Approve</button>
</div>
</form>`
}

function shown(value: Json): string {
  if (value === null) return '–'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
}
