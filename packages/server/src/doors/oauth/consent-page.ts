import type { Scope } from '@tildebase/tenant'
import type { Client, User } from '@tildebase/tenant/internal'
import { scopesText } from '@tildebase/tenant/internal'
import type { Call } from '../call.ts'
import type { HttpResponse } from '../http.ts'
import { clientHost, clientName } from './clients.ts'
import { choicesFor } from './consent.ts'
import { html, page } from './html.ts'
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
  const name = clientName(client)
  const body = html`
<h1>Allow ${name}?</h1>
${error && html`<p class="error" role="alert">${error}</p>`}
<p><strong>${name}</strong> (${clientHost(client)}) asks to act for <strong>${user.email}</strong> in the tenant
<strong>${slug}</strong>. Everything it does is recorded under its own name and yours.</p>
<form method="post" action="/~${slug}/oauth/authorize">
<input type="hidden" name="request" value="${request}">
<fieldset>
<legend>It may</legend>
${scopes.map(
  (scope, i) => html`<label>${scope.area === 'all' ? 'everything' : scope.area}
<select name="scope${i}">
${choicesFor(call, scope).map((choice) => html`<option value="${choice}">${meaning(choice)}</option>`)}
<option value="">nothing</option>
</select></label>`,
)}
</fieldset>
<details>
<summary>Narrow it further</summary>
<label>Only these areas <input name="areas" placeholder="crm, Ticket" autocomplete="off" maxlength="500"></label>
<label>Only these rows, as filters by type
<textarea name="rows" rows="3" placeholder='{"Contact": {"stage": "Lead"}}' maxlength="10000"></textarea></label>
<label>Only these verbs <input name="verbs" placeholder="create, Deal.win" autocomplete="off" maxlength="1000"></label>
<label>Writes per day <input name="writesPerDay" inputmode="numeric" autocomplete="off" maxlength="7"></label>
<label>Entities per answer <input name="rowsPerAnswer" inputmode="numeric" autocomplete="off" maxlength="7"></label>
</details>
<p class="note">Asked for: ${scopesText(scopes)}. ${redirect && `You return to ${formTarget(redirect)}.`}</p>
<div class="actions">
<button type="submit" name="decision" value="deny">Deny</button>
<button type="submit" name="decision" value="allow" class="primary">Allow</button>
</div>
</form>`
  const formAction = redirect === null ? '' : formTarget(redirect)
  return page(slug, `Allow ${name}?`, body, { status: error ? 422 : 200, formAction })
}

/** Shows an error that must not be sent to the client, because its identity is not certain. */
export function messagePage(slug: string, title: string, message: string, status: number): HttpResponse {
  return page(slug, title, html`<h1>${title}</h1><p>${message}</p>`, { status })
}

function meaning(choice: string): string {
  return MEANING[choice.split(':')[0]!] ?? choice
}
