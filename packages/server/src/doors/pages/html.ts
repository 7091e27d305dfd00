import type { HttpResponse } from '../http.ts'
import type { Texts } from './texts.ts'

/** A piece of HTML. Values become text in it, so no value can become markup. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Value = string | number | null | undefined | false | Html | readonly Html[]

export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.reduce((text, part, i) => text + written(values[i - 1]) + part))
}

function written(value: Value): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return value.map((one: Html) => one.text).join('')
  if (value === null || value === undefined || value === false) return ''
  return String(value).replace(/[&<>"']/g, (letter) => ESCAPES[letter]!)
}

const ESCAPES: { readonly [letter: string]: string } = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The language of a page. */
export interface Language {
  readonly code: string
  readonly dir: 'ltr' | 'rtl'
  /** The texts by the English ones; English itself needs none. */
  readonly texts: Texts
  /** A text as HTML: each `{}` is one of the values, in their order. */
  say(english: string, ...values: readonly (string | Html)[]): Html
}

/** The logo of the console. */
export const LOGO = new Html(
  '<svg class="logo" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M6 19c2.500-7 6.500-7 10-3.500s7.500 3.500 10-3.500"/></svg>',
)

/** A page of the service: no other site may frame it, and nothing runs in it but its own script. */
export function page(
  { code, dir, say }: Language,
  slug: string,
  title: string | Html,
  body: Html,
  { status = 200, script = false, formAction = '' } = {},
): HttpResponse {
  const at = `/~${slug}/sign-in`
  const { text } = html`<!doctype html>
<html lang="${code}" dir="${dir}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${say('{}: a page of the tenant {}.', title, slug)}">
<title>${title}</title>
<link rel="icon" href="/console/favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${at}/style.css">
${script && html`<script type="module" src="${at}/script.js"></script>`}
</head>
<body data-tenant="${slug}">
<main>
<p class="brand">${LOGO} Tildebase</p>
${body}
</main>
</body>
</html>
`
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      // A browser applies form-action to where a form's answer leads, too.
      'content-security-policy': `default-src 'none'; style-src 'self'; font-src 'self'; img-src 'self'; script-src ${script ? "'self'" : "'none'"}; connect-src 'self'; form-action 'self'${formAction && ` ${formAction}`}; base-uri 'none'; frame-ancestors 'none'`,
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
    },
    body: text,
  }
}
