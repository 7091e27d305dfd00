/// <reference path="../../browser/scripts.d.ts" />
import { SCRIPTS } from '#scripts'
import type { HttpRequest, HttpResponse } from '../../http.ts'
import { type Html, html, page } from '../../oauth/html.ts'
import type { RequestTarget } from '../../target.ts'
import { metadataPage } from '../metadata.ts'

interface IdentityPageOptions {
  readonly baseUrl: string | null
  /** Whether this host takes passwords. */
  readonly passwords: boolean
  /** Whether people sign in with the provider of the operator. */
  readonly oidc: boolean
}

/**
 * Pages and documents about signing in to a tenant; null for every other path. They are the same for every tenant, so
 * none is opened for them.
 */
export function identityPages(options: IdentityPageOptions) {
  return (request: HttpRequest, target: RequestTarget): HttpResponse | null => {
    const { tenant, segments } = target
    if (request.method !== 'GET' && request.method !== 'HEAD') return null
    if (tenant === null) return segments.join('/') === 'oidc/callback' ? forwarded(request) : null
    if (target.dimensions.length === 0 && !FIRST.has(segments[0] ?? '')) return null
    switch (segments.join('/')) {
      case 'sign-in':
        return page(tenant, 'Sign in', signInPage(tenant, options), { script: true })
      case 'invitation':
        return page(tenant, 'Invitation', invitationPage(tenant, options), { script: true })
      case 'sign-in/style.css':
        return file('text/css', STYLE)
      case 'sign-in/script.js':
        return file('text/javascript', SCRIPTS['sign-in'])
      default:
        return metadataPage(request, target, options.baseUrl)
    }
  }
}

/** The first segments of the paths that are answered here, to skip other paths quickly. */
const FIRST = new Set(['sign-in', 'invitation', '.well-known'])

/** The one address that an OIDC provider knows: the state tells which tenant the person signs in to. */
function forwarded({ query }: HttpRequest): HttpResponse | null {
  const slug = /~([a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/.exec(new URLSearchParams(query).get('state') ?? '')?.[1]
  if (slug === undefined) return null
  const headers = { location: `/~${slug}/session/oidc/callback?${query}`, 'cache-control': 'no-store' }
  return { status: 302, headers, body: null }
}

function signInPage(tenant: string, { passwords, oidc }: IdentityPageOptions): Html {
  return html`
<h1>Sign in to ${tenant}</h1>
<p class="error" role="alert" id="error" hidden></p>
${
  passwords &&
  html`<form id="sign-in" method="post" action="/~${tenant}/session">
<label>E-mail address <input name="email" type="email" autocomplete="username webauthn" required autofocus></label>
<label>Password <input name="password" type="password" autocomplete="current-password" required></label>
<div class="actions"><button type="submit" class="primary">Sign in</button></div>
</form>`
}
<div class="actions others">
<button type="button" id="passkey">Sign in with a passkey</button>
${oidc && html`<a class="button" id="oidc" href="/~${tenant}/session/oidc">Sign in with your organization</a>`}
</div>
<noscript>Signing in needs JavaScript.</noscript>`
}

function invitationPage(tenant: string, { passwords }: IdentityPageOptions): Html {
  return html`
<h1>Join ${tenant}</h1>
<p class="error" role="alert" id="error" hidden></p>
<div id="invited" hidden>
<p>Welcome, <strong id="name"></strong>. You sign in as <strong id="email"></strong>.</p>
<div class="actions"><button type="button" class="primary" id="accept-passkey">Set up a passkey</button></div>
${
  passwords &&
  html`<form id="accept" method="post" action="/~${tenant}/invitation/accept">
<input name="email" type="email" autocomplete="username" hidden>
<label>Or choose a password of 12 characters or more
<input name="password" type="password" autocomplete="new-password" minlength="12" maxlength="256" required></label>
<div class="actions"><button type="submit">Use a password</button></div>
</form>`
}
</div>
<noscript>An invitation needs JavaScript.</noscript>`
}

function file(type: string, body: string): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' },
    body,
  }
}

/** The style of the pages for signing in, for invitations and for consent, in the colours of the console. */
const STYLE = `:root { color-scheme: light dark; --ink: #1b1c1e; --paper: #fbfbfa; --surface: #fff; --line: #d9d8d3; --accent: #0f6b63; --on-accent: #fff; --bad: #a82a22; --soft: #5c6066 }
@media (prefers-color-scheme: dark) { :root { --ink: #ebebe8; --paper: #121314; --surface: #191b1c; --line: #3a3e41; --accent: #6fc7bc; --on-accent: #06231f; --bad: #f39d95; --soft: #a2a6ab } }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 ui-sans-serif, system-ui, sans-serif; color: var(--ink); background: var(--paper) }
main { max-width: 27rem; margin: 12vh auto 4rem; padding: 1.75rem; background: var(--surface); border: 1px solid var(--line); border-radius: .75rem }
@media (max-width: 30rem) { main { margin: 0; border: 0; background: none } }
h1 { font-size: 1.5rem; line-height: 1.25; margin: 0 0 1rem; overflow-wrap: anywhere }
p { overflow-wrap: anywhere }
form, fieldset, details { display: grid; gap: .75rem; margin: 1rem 0 0; padding: 0; border: 0 }
fieldset { border: 1px solid var(--line); border-radius: .5rem; padding: .75rem 1rem }
legend { padding: 0 .25rem; color: var(--soft) }
details[open] summary { margin-bottom: .5rem }
label { display: grid; gap: .25rem }
input, select, textarea, button, .button { font: inherit; color: inherit; width: 100%; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: .5rem; background: transparent }
select option { color: #1c1c22; background: #fff }
button, .button { min-height: 2.75rem; cursor: pointer; text-align: center; text-decoration: none }
button.primary { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
button:disabled { opacity: .5 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px }
.actions { display: flex; gap: .75rem }
.others { flex-direction: column; margin-top: 1.5rem }
table { width: 100%; border-collapse: collapse; font-size: .875rem }
th, td { padding: .25rem .5rem .25rem 0; border-top: 1px solid var(--line); text-align: left; vertical-align: top; overflow-wrap: anywhere }
h2 { font-size: 1rem; margin: 1.25rem 0 0 }
.error { color: var(--bad) }
.note { color: var(--soft); font-size: .875rem }
[hidden] { display: none !important }
`
