/** No content from other hosts, no inline scripts but the one of the page, no frames. Players and PDF show files of this host only. */
export const CONSOLE_GUARDS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self' 'sha256-MtTHPG5rz+76A3dVfYotk8qRWfDQXx6+NCGRXJOqaRk='; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
    "font-src 'self'; media-src 'self'; object-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
}

export const DOCS_GUARDS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}
