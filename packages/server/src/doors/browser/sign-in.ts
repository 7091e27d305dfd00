/** The script of the pages for signing in and for invitations. */
const base = `/~${document.body.dataset.tenant}`
const byId = (id: string) => document.getElementById(id)

/** The next page: of this tenant or of the console, never of another site. */
function destination(): string {
  const home = `/console#${base}`
  const asked = new URLSearchParams(location.search).get('return')
  if (asked === null || !/^\/(?!\/|\\)/.test(asked)) return home
  const url = new URL(asked, location.origin)
  const isOwn = url.pathname.startsWith(`${base}/`) || url.pathname === '/console'
  return url.origin === location.origin && isOwn ? url.pathname + url.search + url.hash : home
}

interface Refusal {
  readonly message?: string
  readonly details?: readonly { readonly field: string; readonly message: string }[]
}

async function send<Answer>(path: string, body: object): Promise<Answer> {
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const { message, details } = answer as Refusal
  throw new Error(details?.[0] ? `${details[0].field} ${details[0].message}` : message)
}

/** Does some work for an event: buttons rest meanwhile, and an error is shown. */
function attempt(work: () => Promise<unknown>) {
  return async (event?: Event) => {
    event?.preventDefault()
    const error = byId('error')!
    error.hidden = true
    const buttons = document.querySelectorAll('button')
    for (const button of buttons) button.disabled = true
    try {
      await work()
    } catch (reason) {
      const { name, message } = reason as Error
      error.textContent = name === 'NotAllowedError' ? error.dataset.unused! : message
      error.hidden = false
    } finally {
      for (const button of buttons) button.disabled = false
    }
  }
}

interface Ceremony<Options> {
  readonly options: Options
  readonly challenge: string
}

async function createPasskey(path: string, body: object): Promise<void> {
  const { options, challenge } = await send<Ceremony<PublicKeyCredentialCreationOptionsJSON>>(`${path}/options`, body)
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options)
  const credential = (await navigator.credentials.create({ publicKey })) as PublicKeyCredential
  await send(path, { ...body, challenge, response: credential.toJSON() })
}

async function usePasskey(): Promise<void> {
  const path = '/session/passkey'
  const { options, challenge } = await send<Ceremony<PublicKeyCredentialRequestOptionsJSON>>(`${path}/options`, {})
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options)
  const credential = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential
  await send(path, { challenge, response: credential.toJSON() })
}

const signIn = byId('sign-in') as HTMLFormElement | null
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
const oidc = byId('oidc') as HTMLAnchorElement | null
if (oidc) oidc.href += `?return=${encodeURIComponent(destination())}`

const invited = byId('invited')
if (invited) {
  const token = location.hash.slice(1)
  // It works once: it has no place in the history of the browser.
  history.replaceState(null, '', location.pathname)
  const join = (work: () => Promise<unknown>) =>
    attempt(async () => {
      await work()
      location.assign(`/console#${base}`)
    })
  const open = attempt(async () => {
    const { name, email } = await send<{ name: string; email: string }>('/invitation', { token })
    byId('name')!.textContent = name
    byId('email')!.textContent = email
    const form = byId('accept') as HTMLFormElement | null
    if (form) {
      const [address, password] = ['email', 'password'].map((field) => form.elements.namedItem(field)) as [
        HTMLInputElement,
        HTMLInputElement,
      ]
      address.value = email
      form.addEventListener(
        'submit',
        join(() => send('/invitation/accept', { token, password: password.value })),
      )
    }
    byId('accept-passkey')!.addEventListener(
      'click',
      join(() => createPasskey('/invitation/passkey', { token })),
    )
    invited.hidden = false
  })
  open()
}
