/** The script of the pages for signing in and for invitations. */
export const SCRIPT = String.raw`const tenant = document.body.dataset.tenant
const base = '/~' + tenant
const byId = (id) => document.getElementById(id)

/** The next page: of this tenant or of the console, never of another site. */
function destination() {
  const home = '/console#' + base
  const asked = new URLSearchParams(location.search).get('return')
  if (asked === null || !/^\/(?!\/|\\)/.test(asked)) return home
  const url = new URL(asked, location.origin)
  const isOwn = url.pathname.startsWith(base + '/') || url.pathname === '/console'
  return url.origin === location.origin && isOwn ? url.pathname + url.search + url.hash : home
}

async function send(path, body) {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  throw new Error(answer.details?.[0] ? answer.details[0].field + ' ' + answer.details[0].message : answer.message)
}

function attempt(work) {
  return async (event) => {
    event?.preventDefault()
    const error = byId('error')
    error.hidden = true
    const buttons = document.querySelectorAll('button')
    for (const button of buttons) button.disabled = true
    try {
      await work(event)
    } catch (reason) {
      error.textContent = reason.name === 'NotAllowedError' ? 'The passkey was not used.' : reason.message
      error.hidden = false
    } finally {
      for (const button of buttons) button.disabled = false
    }
  }
}

async function createPasskey(path, body) {
  const { options, challenge } = await send(path + '/options', body)
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const credential = await navigator.credentials.create({ publicKey })
  return send(path, { ...body, challenge, response: credential.toJSON() })
}

async function usePasskey() {
  const { options, challenge } = await send('/session/passkey/options', {})
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = await navigator.credentials.get({ publicKey })
  return send('/session/passkey', { challenge, response: credential.toJSON() })
}

const signIn = byId('sign-in')
signIn?.addEventListener(
  'submit',
  attempt(async () => {
    const { email, password } = Object.fromEntries(new FormData(signIn))
    await send('/session', { email, password })
    location.assign(destination())
  }),
)
byId('passkey')?.addEventListener(
  'click',
  attempt(async () => {
    await usePasskey()
    location.assign(destination())
  }),
)
const oidc = byId('oidc')
if (oidc) oidc.href += '?return=' + encodeURIComponent(destination())

const invited = byId('invited')
if (invited) {
  const token = location.hash.slice(1)
  // It works once: it has no place in the history of the browser.
  history.replaceState(null, '', location.pathname)
  const join = (work) =>
    attempt(async () => {
      await work()
      location.assign('/console#' + base)
    })
  attempt(async () => {
    const { name, email } = await send('/invitation', { token })
    byId('name').textContent = name
    byId('email').textContent = email
    const form = byId('accept')
    if (form) form.email.value = email
    form?.addEventListener('submit', join(() => send('/invitation/accept', { token, password: form.password.value })))
    byId('accept-passkey').addEventListener('click', join(() => createPasskey('/invitation/passkey', { token })))
    invited.hidden = false
  })()
}
`
