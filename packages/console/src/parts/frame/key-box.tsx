import { Problem, type Status, wireTo } from '@tildebase/client'
import { DOCUMENTATION } from '@tildebase/nouns'
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { lazy } from '../../lazy.tsx'
import { look, place } from '../../place.ts'
import { farewell, open, type Session, signInAddress, tenantOf } from '../../service/session.ts'
import { t } from '../../texts/text.ts'
import { sentenceOf } from '../../toast.ts'
import { Labelled } from '../../ui/basics.tsx'
import { Logo } from '../../ui/icon.tsx'
import { Failure } from '../../ui/states.tsx'

const Tasks = lazy(
  async () => (await import('./tasks.tsx')).Tasks,
  () => null,
)

/** The tenant of sample data, which `tilde serve --demo` fills, too. */
const DEMO = 'demo'

/** The way in: a tenant and a key that opens it. */
export function KeyBox() {
  const id = useId()
  const [key, setKey] = useState('')
  const [tenant, setTenant] = useState(place.value.tenant ?? '')
  const [keep, setKeep] = useState(false)
  const [error, setError] = useState<Error | null>(null)
  const [busy, setBusy] = useState(false)
  /** A tenant that nothing was written to yet: perhaps a slip of the pen. */
  const [unknown, setUnknown] = useState<string | null>(null)
  /** The tenant whose restore refused the key, and the key: the operator sees how far it is. */
  const [restored, setRestored] = useState<Session | null>(null)
  const first = useRef<HTMLInputElement>(null)
  const second = useRef<HTMLInputElement>(null)
  useLayoutEffect(() => first.current?.focus(), [])
  const write = (text: string) => {
    setKey(text)
    const named = tenantOf(text)
    if (named) setTenant(named)
  }
  const enter = async (given: Session) => {
    setBusy(true)
    setError(null)
    const answer = await tryKey(given)
    setBusy(false)
    setRestored(answer.kind === 'refused' && answer.isRestoring ? given : null)
    if (answer.kind === 'refused') return setError(answer.error)
    if (answer.kind === 'empty' && unknown !== given.tenant) return setUnknown(given.tenant)
    open(given, keep)
  }
  /** Opens a tenant for trying things out, which the home page fills when it is empty. */
  const openSample = async () => {
    setBusy(true)
    // The operator's key opens any tenant; another key has one only.
    const given = { tenant: tenantOf(key) ?? DEMO, key: key.trim() }
    const answer = await tryKey(given)
    setBusy(false)
    if (answer.kind === 'refused') return setError(answer.error)
    open(given, keep)
    look({ sample: '1' })
  }
  return (
    <main class="key-box">
      <form
        class="panel"
        onSubmit={(event) => {
          event.preventDefault()
          void enter({ tenant: tenant.trim(), key: key.trim() })
        }}
      >
        <h1>
          <Logo /> {t('Tildebase')}
        </h1>
        {farewell.value && <p class="farewell">{farewell.value}</p>}
        <p class="server">
          {t('Server')} <code>{location.origin}</code>
        </p>
        <Labelled
          label={t('Key')}
          for={`${id}-key`}
          refusedBy={error ? `${id}-failure` : undefined}
          hint={t('The first start printed one; it is in data/root.key on the server.')}
        >
          <input
            ref={first}
            id={`${id}-key`}
            type="password"
            autocomplete="off"
            required
            value={key}
            onInput={(event) => write(event.currentTarget.value)}
          />
        </Labelled>
        <Labelled
          label={t('Tenant')}
          for={`${id}-tenant`}
          hint={t(
            "A tenant is one company's data. A key names its own; the operator's key, in data/root.key, opens any.",
          )}
        >
          <input
            ref={second}
            id={`${id}-tenant`}
            required
            pattern="[a-z0-9]([a-z0-9\-]{0,61}[a-z0-9])?"
            autocomplete="off"
            spellcheck={false}
            value={tenant}
            onInput={(event) => setTenant(event.currentTarget.value)}
          />
        </Labelled>
        <label class="check">
          <input type="checkbox" checked={keep} onChange={(event) => setKeep(event.currentTarget.checked)} />{' '}
          {t('Keep the key until this tab is closed')}
        </label>
        <div id={`${id}-failure`}>
          <Failure error={error} />
        </div>
        {restored && <Tasks of={restored} onEnd={() => void enter(restored)} />}
        {unknown !== null && unknown === tenant.trim() && (
          <p class="notice" role="alert">
            {t('There is no tenant')} <strong>~{unknown}</strong>{' '}
            {t('yet. Check the name, or open it to start it with your first entry.')}
          </p>
        )}
        <button type="submit" class="primary" aria-busy={busy}>
          {unknown !== null && unknown === tenant.trim() ? t('Open it all the same') : t('Open')}
        </button>
        <a
          class="button"
          href={`#/~${DEMO}`}
          aria-busy={busy}
          onClick={(event) => {
            event.preventDefault()
            if (first.current?.reportValidity()) void openSample()
          }}
        >
          {t('Open with sample data')}
        </a>
        <a
          class="sign-in"
          href={signInAddress(tenant.trim())}
          onClick={(event) => {
            // People have no key; the name of the tenant is all that is needed.
            if (!second.current?.reportValidity()) event.preventDefault()
          }}
        >
          {t('Sign in as a person')}
        </a>
        <a class="sign-in" href={`${DOCUMENTATION}/start.html`} target="_blank" rel="noreferrer">
          {t('Documentation')}
        </a>
      </form>
    </main>
  )
}

/** What a key finds at a tenant. */
type Answer =
  | { readonly kind: 'open' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'refused'; readonly error: Error; readonly isRestoring: boolean }

/** Asks with the key before anything is shown. The operator's key opens tenants that do not exist yet, too. */
async function tryKey({ tenant, key: apiKey }: Session): Promise<Answer> {
  const fetchOnce = (url: string, init: RequestInit) => fetch(url, { ...init, cache: 'no-store', credentials: 'omit' })
  try {
    const wire = wireTo({ apiKey, baseUrl: location.origin, retries: 0, fetch: fetchOnce })
    const { log } = (await wire.json(`/~${encodeURIComponent(tenant)}/status`)) as Status
    return log.seq === 0 ? { kind: 'empty' } : { kind: 'open' }
  } catch (reason) {
    const isRestoring = reason instanceof Problem && reason.code === 'restoring'
    return { kind: 'refused', error: new Error(sentenceOf(reason)), isRestoring }
  }
}
