import type { Json } from '@tildebase/nouns'
import type { Review } from '@tildebase/tenant/internal'
import type { HttpResponse } from '../http.ts'
import { type Html, html, type Language, page } from '../pages/html.ts'

/** What the page shows, and where its form goes. */
export interface DecisionView {
  readonly language: Language
  readonly slug: string
  readonly review: Review
  readonly path: string
  /** The token of the session, which pages of other sites cannot know. */
  readonly csrf: string
  readonly error?: string | undefined
}

/** Shows what a changeset would change, and asks for the decision while it is open. */
export function decisionPage({ language, slug, review, path, csrf, error }: DecisionView): HttpResponse {
  const { changeset, diff, conflicts, messages } = review
  const { title, state, author, entity } = changeset
  const { reason, reviewer } = JSON.parse(entity.data) as { reason?: string; reviewer?: string }
  const { say } = language
  const isOpen = state === 'Open'
  const body = html`
<h1><bdi>${visible(title)}</bdi></h1>
${error && html`<p class="error" role="alert">${error}</p>`}
<p>${say('Proposed by {} in the tenant {}.', html`<strong><bdi>${author}</bdi></strong>`, html`<strong><bdi>${slug}</bdi></strong>`)}</p>
${reason && html`<p><bdi>${visible(reason)}</bdi></p>`}
${!isOpen && html`<p role="status"><strong>${say(state)}.</strong> ${reviewer && say('By {}.', reviewer)} ${say('Nothing is left to decide.')}</p>`}
${diff.map((one) => difference(language, one))}
${conflicts.length > 0 && html`<h2>${say('Conflicts')}</h2><ul>${conflicts.map(({ type, id, reason: why }) => html`<li>${type} ${id}: ${why}</li>`)}</ul>`}
${messages.length > 0 && html`<h2>${say('Refused by rules')}</h2><ul>${messages.map(({ message }) => html`<li>${message}</li>`)}</ul>`}
${isOpen && form(language, path, csrf, entity.version)}`
  return page(language, slug, title, body, { status: error ? 409 : 200 })
}

function difference({ say }: Language, { type, id, verb, changes }: Review['diff'][number]): Html {
  return html`
<section>
<h2>${verb} ${type}</h2>
<p class="note">${id}</p>
<table>
<thead><tr><th scope="col">${say('Field')}</th><th scope="col">${say('Now')}</th><th scope="col">${say('After approval')}</th></tr></thead>
<tbody>${Object.entries(changes).map(
    ([field, { from, to }]) =>
      html`<tr><th scope="row"><bdi>${visible(field)}</bdi></th><td><bdi>${shown(from)}</bdi></td><td><bdi>${shown(to)}</bdi></td></tr>`,
  )}</tbody>
</table>
</section>`
}

function form({ say }: Language, path: string, csrf: string, version: number): Html {
  return html`
<form method="post" action="${path}">
<input type="hidden" name="csrf" value="${csrf}">
<input type="hidden" name="version" value="${version}">
<label>${say('Reason, if you reject it')} <textarea name="reason" rows="2" maxlength="2000"></textarea></label>
<div class="actions">
<button type="submit" name="decision" value="reject">${say('Reject')}</button>
<button type="submit" name="decision" value="approve" class="primary">${say('Approve')}</button>
</div>
</form>`
}

/** A value in full: a person does not approve what is cut off. */
function shown(value: Json): string {
  if (value === null) return '–'
  return visible(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Characters that show the letters after them in another order. */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g

/** A text in which they are seen: it is read as it is stored. */
function visible(text: string): string {
  return text.replace(DIRECTIONS, (letter) => `[U+${letter.charCodeAt(0).toString(16).toUpperCase()}]`)
}
