/// <reference path="../../browser/scripts.d.ts" />
import { SCRIPTS } from '#scripts'
import type { HttpRequest, HttpResponse } from '../../http.ts'
import { type Html, html, type Language, page } from '../../pages/html.ts'
import { languageOf } from '../../pages/language.ts'
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
    const language = languageOf(request)
    switch (segments.join('/')) {
      case 'sign-in':
        return page(language, tenant, language.say('Sign in'), signInPage(language, tenant, options), { script: true })
      case 'invitation':
        return page(language, tenant, language.say('Invitation'), invitationPage(language, tenant, options), {
          script: true,
        })
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

function signInPage({ say }: Language, tenant: string, { passwords, oidc }: IdentityPageOptions): Html {
  return html`
<h1>${say('Sign in to {}', tenant)}</h1>
<p class="error" role="alert" id="error" data-unused="${say('The passkey was not used.')}" hidden></p>
${
  passwords &&
  html`<form id="sign-in" method="post" action="/~${tenant}/session">
<label>${say('E-mail address')} <input name="email" type="email" autocomplete="username webauthn" required autofocus></label>
<label>${say('Password')} <input name="password" type="password" autocomplete="current-password" required></label>
<div class="actions"><button type="submit" class="primary">${say('Sign in')}</button></div>
</form>`
}
<div class="actions others">
<button type="button" id="passkey">${say('Sign in with a passkey')}</button>
${oidc && html`<a class="button" id="oidc" href="/~${tenant}/session/oidc">${say('Sign in with your organization')}</a>`}
</div>
<noscript>${say('Signing in needs JavaScript.')}</noscript>`
}

function invitationPage({ say }: Language, tenant: string, { passwords }: IdentityPageOptions): Html {
  return html`
<h1>${say('Join {}', tenant)}</h1>
<p class="error" role="alert" id="error" data-unused="${say('The passkey was not used.')}" hidden></p>
<div id="invited" hidden>
<p>${say('Welcome, {}. You sign in as {}.', html`<strong><bdi id="name"></bdi></strong>`, html`<strong><bdi id="email"></bdi></strong>`)}</p>
<div class="actions"><button type="button" class="primary" id="accept-passkey">${say('Set up a passkey')}</button></div>
${
  passwords &&
  html`<form id="accept" method="post" action="/~${tenant}/invitation/accept">
<input name="email" type="email" autocomplete="username" hidden>
<label>${say('Or choose a password of 12 characters or more')}
<input name="password" type="password" autocomplete="new-password" minlength="12" maxlength="256" required></label>
<div class="actions"><button type="submit">${say('Use a password')}</button></div>
</form>`
}
</div>
<noscript>${say('An invitation needs JavaScript.')}</noscript>`
}

function file(type: string, body: string): HttpResponse {
  return {
    status: 200,
    headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' },
    body,
  }
}

/** The style of the pages for signing in, for invitations and for consent: that of the console. */
const STYLE = `@font-face { font-family: "Geist"; font-weight: 100 900; font-display: swap; src: url("/console/assets/geist-latin-wght-normal.woff2") format("woff2") }
:root { color-scheme: light dark; --paper: light-dark(#fbfbfa, #121314); --surface: light-dark(#fff, #191b1c); --ink: light-dark(#1b1c1e, #ebebe8); --soft: light-dark(#5c6066, #a2a6ab); --line: light-dark(#e7e6e2, #2a2d2f); --edge: light-dark(#898b8f, #797e84); --hover: light-dark(#efefec, #242729); --accent: light-dark(#0f6b63, #6fc7bc); --on-accent: light-dark(#fff, #06231f); --bad: light-dark(#a82a22, #f39d95); --bad-soft: light-dark(#fbe9e7, #3b1f1d); --shade: light-dark(rgb(27 28 30 / 12%), rgb(0 0 0 / 50%)); --control: 36px }
@media (pointer: coarse) { :root { --control: 44px } }
* { box-sizing: border-box }
body { display: grid; place-items: start center; min-height: 100dvh; margin: 0; padding: 14dvh 16px 16px; font: 13.5px/1.5 "Geist", ui-sans-serif, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; color: var(--ink); background: var(--paper) }
main { width: min(400px, 100%); padding: 28px; background: var(--surface); border-radius: 11px; box-shadow: 0 0 0 1px var(--line), 0 12px 32px var(--shade) }
.brand { display: flex; align-items: center; gap: 10px; margin: 0 0 18px; font-weight: 600; font-size: 15px }
.logo { width: 24px; height: 24px }
.logo rect { fill: var(--accent) }
.logo path { fill: none; stroke: var(--on-accent); stroke-width: 3; stroke-linecap: round }
h1 { font-size: 20px; font-weight: 600; line-height: 1.25; margin: 0 0 14px; overflow-wrap: anywhere }
h2 { font-size: 14px; margin: 18px 0 0 }
p { margin: 0 0 10px; overflow-wrap: anywhere }
form, fieldset, details { display: grid; gap: 14px; margin: 14px 0 0; padding: 0; border: 0 }
fieldset { border: 1px solid var(--line); border-radius: 7px; padding: 12px 14px }
legend { padding: 0 4px; color: var(--soft) }
summary { min-height: 24px; color: var(--soft); cursor: pointer }
details[open] summary { margin-bottom: 4px }
label { display: grid; gap: 5px; font-size: 12px; font-weight: 500; color: var(--soft) }
input, select, textarea, button, .button { font: inherit; font-size: 13.5px; font-weight: 400; color: var(--ink); width: 100%; min-height: var(--control); padding: 5px 10px; border: 1px solid var(--edge); border-radius: 7px; background: var(--surface) }
button, .button { display: grid; place-items: center; border-color: var(--line); font-weight: 500; cursor: pointer; text-decoration: none }
:is(button, .button):hover { background: var(--hover) }
button.primary, button.primary:hover { color: var(--on-accent); background: var(--accent); border-color: var(--accent) }
button.primary:hover { filter: brightness(1.06) }
button:disabled { opacity: .5 }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px }
.actions { display: flex; gap: 10px }
.others { flex-direction: column; margin-top: 14px }
form + .others { margin-top: 18px; padding-top: 18px; border-top: 1px solid var(--line) }
table { width: 100%; border-collapse: collapse }
th, td { padding-block: 5px; padding-inline: 0 8px; border-top: 1px solid var(--line); text-align: start; vertical-align: top; overflow-wrap: anywhere }
.error { padding: 8px 12px; border-radius: 7px; color: var(--bad); background: var(--bad-soft) }
.note { color: var(--soft); font-size: 12px }
[hidden] { display: none !important }
`
