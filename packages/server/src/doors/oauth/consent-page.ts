import type { Scope } from '@tildebase/tenant'
import type { Client, User } from '@tildebase/tenant/internal'
import { scopesText } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { type Html, html, page } from '../pages/html.ts'
import { languageOf } from '../pages/language.ts'
import { clientHost, clientName } from './clients.ts'
import { choicesFor } from './consent.ts'
import { formTarget } from './redirects.ts'

/** What the consent page shows. */
export interface ConsentView {
  readonly client: Client
  readonly scopes: readonly Scope[]
  readonly user: User
  /** The token that the form sends back: it represents the request, the person and the session. */
  readonly request: string
  /** Where the form's answer leads to; null for a device. */
  readonly redirect: string | null
  readonly error?: string
}

const MEANING: { readonly [action: string]: string } = {
  read: 'read',
  propose: 'read and propose changes',
  write: 'read and change',
  admin: 'read, change and administer',
}

/** Asks a person whether a client may act for them, and lets them allow less than it asks for. */
export function consentPage(call: Call, { client, scopes, user, request, redirect, error }: ConsentView): HttpResponse {
  const { slug } = call.tenant
  const language = languageOf(call.request)
  const { say } = language
  const name = clientName(client)
  const body = html`
<h1>${say('Allow {}?', name)}</h1>
${error && html`<p class="error" role="alert">${error}</p>`}
<p>${say(
    '{} ({}) asks to act for {} in the tenant {}. Everything it does is recorded under its own name and yours.',
    strong(name),
    clientHost(client),
    strong(user.email),
    strong(slug),
  )}</p>
<form method="post" action="/~${slug}/oauth/authorize">
<input type="hidden" name="request" value="${request}">
<fieldset>
<legend>${say('It may')}</legend>
${scopes.map(
  (scope, i) => html`<label>${scope.area === 'all' ? say('everything') : scope.area}
<select name="scope${i}">
${choicesFor(call, scope).map((choice) => html`<option value="${choice}">${say(meaning(choice))}</option>`)}
<option value="">${say('nothing')}</option>
</select></label>`,
)}
</fieldset>
<details>
<summary>${say('Narrow it further')}</summary>
<label>${say('Only these areas')} <input name="areas" placeholder="crm, Ticket" autocomplete="off" maxlength="500"></label>
<label>${say('Only these rows, as filters by type')}
<textarea name="rows" rows="3" placeholder='{"Contact": {"stage": "Lead"}}' maxlength="10000"></textarea></label>
<label>${say('Only these verbs')} <input name="verbs" placeholder="create, Deal.win" autocomplete="off" maxlength="1000"></label>
<label>${say('Writes per day')} <input name="writesPerDay" inputmode="numeric" autocomplete="off" maxlength="7"></label>
<label>${say('Entities per answer')} <input name="rowsPerAnswer" inputmode="numeric" autocomplete="off" maxlength="7"></label>
</details>
<p class="note">${say('Asked for: {}.', scopesText(scopes))} ${redirect && say('You return to {}.', formTarget(redirect))}</p>
<div class="actions">
<button type="submit" name="decision" value="deny">${say('Deny')}</button>
<button type="submit" name="decision" value="allow" class="primary">${say('Allow')}</button>
</div>
</form>`
  const formAction = redirect === null ? '' : formTarget(redirect)
  return page(language, slug, say('Allow {}?', name), body, { status: error ? 422 : 200, formAction })
}

/** Shows an error that must not be sent to the client, because its identity is not certain. */
export function messagePage(
  { request, tenant }: Pick<Call, 'request' | 'tenant'>,
  title: string,
  message: string,
  status: number,
): HttpResponse {
  const language = languageOf(request)
  const head = language.say(title)
  return page(language, tenant.slug, head, html`<h1>${head}</h1><p>${language.say(message)}</p>`, { status })
}

function strong(text: string): Html {
  return html`<strong><bdi>${text}</bdi></strong>`
}

function meaning(choice: string): string {
  return MEANING[choice.split(':')[0]!] ?? choice
}
